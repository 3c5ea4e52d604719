//===- HeldRules.cpp - rules that other rules hold and call ---------------===//
//
// A rule held as a hyperparameter is a function with a state of its own. Its body is elaborated where it is called; its
// states are bindings among the globals, under names that no spec can write (`optimizer sam.base.m`), so that loops and
// branches carry them like other values and each call goes on from the last. They are read when the holder begins and
// written when it ends.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/TrainElaborator.h"

#include "frontend/AstWalk.h"
#include "frontend/RuleKinds.h"
#include "frontend/elaborate/Patterns.h"

using namespace mlir;

namespace dyn::elab {

/// The states of a rule as far as they are known before it runs: those at its top, and in branches on hyperparameters.
static void statesAtTop(const ast::Block &block, llvm::function_ref<std::optional<bool>(const ast::Expr &)> known,
                        std::vector<const ast::StateStmt *> &found) {
  for (auto &stmt : block.statements) {
    if (auto *state = ast::dynCast<ast::StateStmt>(stmt.get()))
      found.push_back(state);
    auto *branch = ast::dynCast<ast::IfStmt>(stmt.get());
    if (!branch)
      continue;
    bool holds = false;
    ast::walk(*branch, [&](const ast::Node &node) {
      holds |= ast::isa<ast::StateStmt>(&node);
      return !holds;
    });
    auto taken = holds ? known(*branch->condition) : std::nullopt;
    if (taken && *taken)
      statesAtTop(*branch->thenBlock, known, found);
    else if (taken && branch->elseBlock)
      statesAtTop(*branch->elseBlock, known, found);
  }
}

std::vector<const ast::StateStmt *> TrainElaborator::heldStatesOf(const ast::RuleDecl &decl, ScopePtr scope) {
  auto known = [&](const ast::Expr &condition) -> std::optional<bool> {
    bool early = true;
    ast::walk(condition, [&](const ast::Node &node) {
      auto *name = ast::dynCast<ast::NameExpr>(&node);
      early &= !name || scope->find(name->name);
      return early;
    });
    Frame frame{scope};
    return early ? e.knownBool(e.evaluate(condition, frame)) : std::nullopt;
  };
  std::vector<const ast::StateStmt *> found;
  if (decl.body.block)
    statesAtTop(*decl.body.block, known, found);
  return found;
}

/// Names that a rule has only while it runs, so that a state that starts from one is refused by name.
static ScopePtr withNamesOfRun(const ast::RuleDecl &decl, ScopePtr scope) {
  auto all = std::make_shared<Scope>(scope);
  const RuleKindInfo &kind = ruleKindInfo(decl.rule);
  for (auto *names : {&kind.reads, &kind.writes})
    for (const std::string &name : *names)
      all->define(name, Value(), NameKind::Socket, Span());
  ast::walk(*decl.body.block, [&](const ast::Node &node) {
    if (auto *let = ast::dynCast<ast::LetStmt>(&node))
      all->define(let->name.text, Value(), NameKind::Local, let->name.span);
    return true;
  });
  return all;
}

/// Gives the states of a held rule their values as the holder begins.
void TrainElaborator::beginStates(HeldRule &held, const HeldRule::Part &part) {
  Running now{part.place, part.start, true};
  const Running *outer = std::exchange(running, &now);
  auto begin = [&](const State &state, Span span) {
    std::string key = part.place.key() + "." + state.name;
    Value value = readRange(state.arena, state.offset, state.type, state.name, span);
    e.globals->names[key] = stateBinding(state, value, span);
    held.states.push_back(key);
  };
  for (const ast::StateStmt *stmt : heldStatesOf(*held.decl, part.scope)) {
    Frame frame{withNamesOfRun(*held.decl, part.scope), nullptr, part.place.key()};
    if (State *state = stateOf(*stmt, frame))
      begin(*state, stmt->name.span);
  }
  // `t` counts its own applications.
  if (mentions(*held.decl, "t")) {
    auto it = states.find(part.place.key() + ".t");
    auto type = RankedTensorType::get({}, e.builder.getI64Type());
    begin(it != states.end() ? it->second : placeState("t", type, nullptr, part.place.key()), held.decl->name.span);
  }
  running = outer;
}

/// The places of a held rule beneath its holder's; nothing after a report.
std::optional<std::vector<RulePlace>> TrainElaborator::placesOf(const HeldRule &held, const RulePlace &outer, Span span) {
  auto *pattern = ast::dynCast<ast::ShapePattern>(held.decl->on.get());
  if (!pattern)
    return std::vector<RulePlace>{{outer.rule + "." + held.name, outer.leaf, outer.leaves, outer.from, false}};
  std::vector<RulePlace> places;
  for (ParamInfo *leaf : outer.leaves) {
    bool otherwise = false;
    if (!ownsLeaf({}, *held.decl, *leaf, e, scope, otherwise)) {
      std::string what = leaf->path + ": " + (leaf->shape.empty() ? "real" : describeShape(leaf->shape));
      std::string sizes;
      for (auto &size : pattern->shape)
        sizes += (sizes.empty() ? "[" : ", ") + print(*size);
      e.diags.report(Diag::held_pattern, span, held.decl->name.text, sizes + "]", what)
          .note(leaf->from, "the parameter is declared here")
          .help("give the clause that holds it a pattern: `on \"…\"`, or `except \"" + leaf->path + "\"`");
      return std::nullopt;
    }
    places.push_back({outer.rule + "." + held.name, leaf->path, {leaf}, leaf->offset, true});
  }
  return places;
}

/// A hyperparameter that is a rule, as a function. `place` and `states` are those of the holder; null in a schedule,
/// which holds schedules only.
Value TrainElaborator::hold(const std::string &name, Rule rule, const RulePlace *place, std::vector<std::string> *states,
                            const Binding &binding) {
  Span span = binding.value.origin;
  if (!rule.hyper) {
    Frame frame{e.globals};
    Value made = e.instantiateRule(*rule.decl, {}, span, frame);
    if (made.isInvalid())
      return {};
    rule = *made.as<Rule>();
  }
  auto held = std::make_shared<HeldRule>();
  held->name = name;
  held->decl = rule.decl;
  if (rule.decl->rule == ast::RuleKind::Schedule) {
    held->parts.push_back({RulePlace(), rule.hyper, ruleScope(rule, nullptr)});
    return Value(Held{held, false}, span);
  }
  if (rule.decl->rule != ast::RuleKind::Optimizer && rule.decl->rule != ast::RuleKind::Clip)
    return Value(rule, span);
  if (writesServed(*rule.decl)) {
    e.diags.report(Diag::served_held, span, rule.decl->name.text, name)
        .note(rule.decl->name.span, "`" + rule.decl->name.text + "` is declared here")
        .help("hold them the other way round: `" + rule.decl->name.text + "` outside");
    return {};
  }
  held->leaves = place->leaves;
  auto places = placesOf(*held, *place, span);
  if (!places)
    return {};
  for (RulePlace &at : *places) {
    ScopePtr scope = ruleScope(rule, &at, &held->states);
    defineSizes(*rule.decl, at, *scope, span);
    HeldRule::Part part{at, startScope(rule, *scope, at, span), scope};
    beginStates(*held, part);
    held->parts.push_back(std::move(part));
  }
  states->insert(states->end(), held->states.begin(), held->states.end());
  return Value(Held{held, false}, span);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The arguments of a call, as many as the rule takes; nothing after a report.
std::optional<std::vector<Value>> TrainElaborator::heldArguments(const HeldRule &held, size_t count,
                                                                 const std::vector<ast::Argument> &args, Span span,
                                                                 Frame &frame) {
  std::vector<Value> values;
  for (auto &arg : args) {
    if (arg.name) {
      e.diags.report(Diag::unknown_argument, arg.span, held.name, arg.name.text).help("its arguments stand without names");
      return std::nullopt;
    }
    values.push_back(e.evaluate(*arg.value, frame));
    if (values.back().isInvalid())
      return std::nullopt;
  }
  if (args.size() == count)
    return values;
  auto report = args.size() > count
                    ? e.diags.report(Diag::too_many_arguments, span, held.name, describeArguments(count), args.size())
                    : e.diags.report(Diag::too_few_arguments, span, held.name, describeArguments(count), args.size());
  report.help(held.decl->rule == ast::RuleKind::Optimizer ? "write `" + held.name + "(params, grads)`"
              : held.decl->rule == ast::RuleKind::Clip    ? "write `" + held.name + "(grads)`"
                                                          : "write `" + held.name + "(t)`, with the step");
  return std::nullopt;
}

Value TrainElaborator::heldSchedule(const HeldRule &held, const Value &t, Span span) {
  if (!t.as<Const>() && !(t.as<Tensor>() && t.as<Tensor>()->type().getRank() == 0)) {
    e.diags.report(Diag::recast, span, held.name, "the number of a step", describe(t));
    return {};
  }
  return scheduled(Rule{held.decl, held.parts.front().start}, span, t);
}

Value TrainElaborator::heldCall(const Held &call, const std::vector<ast::Argument> &args, Span span, Frame &frame) {
  const HeldRule &held = *call.rule;
  bool isOptimizer = held.decl->rule == ast::RuleKind::Optimizer;
  auto values = heldArguments(held, isOptimizer ? 2 : 1, args, span, frame);
  if (!values)
    return {};
  if (held.decl->rule == ast::RuleKind::Schedule)
    return heldSchedule(held, values->front(), span);
  if (e.inWhileCondition) {
    e.diags.report(Diag::statement_not_here, span, "a call that changes the state of `" + held.name + "`")
        .help("call it in the body of the `while`, and keep what the condition needs under a name");
    return {};
  }
  if (e.inDerivative) {
    e.diags.report(Diag::statement_not_here, span, "a call that changes the state of `" + held.name + "`")
        .help("call it outside of the function that is differentiated");
    return {};
  }
  for (size_t i = 0; i < values->size(); ++i)
    if (!hasFormOf((*values)[i], held.leaves)) {
      e.diags.report(Diag::recast, args[i].span, held.name,
                     isOptimizer && i == 0 ? "the parameters, as a tree or leaf by leaf" : "a gradient, as a tree or leaf by leaf",
                     describe((*values)[i]));
      return {};
    }
  InstantiationScope chain(e.diags, held.decl->name.text + " as `" + held.name + "`", span);
  mlir::Value first = *flatOf(values->front(), span);
  mlir::Value second = isOptimizer ? *flatOf(values->back(), span) : mlir::Value();
  SmallVector<mlir::Value> parts;
  std::string site = frame.site + "#" + std::to_string(frame.draws++);
  int64_t next = 0;
  for (const HeldRule::Part &each : held.parts) {
    int64_t count = elements(each.place.leaves), from = std::exchange(next, next + count);
    mlir::Value params = isOptimizer ? part(first, from, count, span) : gathered(*flatOf(passParams, span), each.place.leaves, span);
    mlir::Value grads = part(isOptimizer ? second : first, from, count, span);
    mlir::Value result = applyHeld(held, each, params, grads, site, frame, span);
    if (!result)
      return {};
    parts.push_back(call.delta ? deltaOf(result, params, span) : result);
  }
  mlir::Value flat = parts.size() == 1 ? parts.front() : e.create<nd::ConcatOp>(span, ValueRange(parts), uint64_t(0));
  return inFormOf(flat, values->front().as<Tensor>()->type(), span);
}

/// Elaborates a held rule's body; its states go on. Gives the new parameters, or a clip's gradient, flat; null after an
/// error.
mlir::Value TrainElaborator::applyHeld(const HeldRule &held, const HeldRule::Part &part, mlir::Value params,
                                       mlir::Value grads, const std::string &site, Frame &frame, Span span) {
  bool isOptimizer = held.decl->rule == ast::RuleKind::Optimizer;
  std::string key = part.place.key();
  auto scope = std::make_shared<Scope>(part.scope);
  defineForms(scope, part.place, "param", params, isOptimizer, span);
  defineForms(scope, part.place, "grad", grads, !isOptimizer, span);
  Value t = applications(span);
  Binding *count = e.globals->find(key + ".t");
  if (count) {
    t = e.elementwise("add", count->value, e.integer(1, span), span);
    count->value = t;
    count->state->written = true;
    t.as<Tensor>()->number = true;
  }
  if (isOptimizer)
    offerSocket(scope, t, span);
  else
    scope->define("t", t, NameKind::Socket, span);
  Running now{part.place, part.start, true};
  const Running *outer = std::exchange(running, &now);
  std::string prefix = std::exchange(metricPrefix, metricPrefix + held.name + ".");
  Frame inner{scope, nullptr, site + "/" + key};
  inner.passes = frame.passes;
  inner.inRuntimeBranch = frame.inRuntimeBranch;
  inner.rule = held.decl;
  e.execute(*held.decl->body.block, inner);
  metricPrefix = prefix;
  running = outer;
  if (e.hasFailed())
    return {};
  for (State *state : statesByOwner[key]) {
    Binding *mine = state->decl ? scope->find(state->name) : nullptr;
    Binding *kept = e.globals->find(key + "." + state->name);
    if (!mine || !mine->state || !mine->state->written)
      continue;
    kept->value = mine->value;
    kept->state->written = true;
  }
  return written(*scope, isOptimizer ? "param" : "grad", isOptimizer ? params : grads, span);
}

//===----------------------------------------------------------------------===//
// What a rule would add
//===----------------------------------------------------------------------===//

namespace {
/// Finds what is added to `params` on the way to a value: `p - lr*u` adds `-lr*u`, which the sum would round.
class Added {
public:
  Added(OpBuilder &builder, Location loc, mlir::Value params) : builder(builder), loc(loc), params(params) {}

  /// Nothing when the value is no such sum; a null value when it is `params` itself.
  std::optional<mlir::Value> in(mlir::Value value) {
    if (value == params)
      return mlir::Value();
    Operation *op = value.getDefiningOp();
    if (auto recast = dyn_cast_or_null<ir::RecastOp>(op))
      return through(recast.getInput(), [&](mlir::Value x) { return ir::RecastOp::create(builder, loc, value.getType(), x).getResult(); });
    if (auto reshape = dyn_cast_or_null<nd::ReshapeOp>(op))
      return through(reshape->getOperand(0), [&](mlir::Value x) {
        return nd::ReshapeOp::create(builder, loc, x, mlir::cast<RankedTensorType>(value.getType()).getShape()).getResult();
      });
    if (isa_and_present<nd::AddOp, nd::SubOp>(op))
      return inSum(op);
    return std::nullopt;
  }

private:
  template <class Make>
  std::optional<mlir::Value> through(mlir::Value input, Make make) {
    auto added = in(input);
    return added && *added ? std::optional<mlir::Value>(make(*added)) : added;
  }

  std::optional<mlir::Value> inSum(Operation *op) {
    mlir::Value a = op->getOperand(0), b = op->getOperand(1);
    bool minus = isa<nd::SubOp>(op);
    if (auto before = in(a)) {
      if (!*before)
        return minus ? nd::NegOp::create(builder, loc, b).getResult() : b;
      return minus ? nd::SubOp::create(builder, loc, *before, b).getResult() : nd::AddOp::create(builder, loc, *before, b).getResult();
    }
    if (minus)
      return std::nullopt;
    auto before = in(b);
    return before && *before ? std::optional<mlir::Value>(nd::AddOp::create(builder, loc, a, *before).getResult())
           : before          ? std::optional<mlir::Value>(a)
                             : std::nullopt;
  }

  OpBuilder &builder;
  Location loc;
  mlir::Value params;
};
} // namespace

/// What leads from `params` to `next`; their difference where `next` is no sum of it.
mlir::Value TrainElaborator::deltaOf(mlir::Value next, mlir::Value params, Span span) {
  auto added = Added(e.builder, e.loc(span), params).in(next);
  if (!added)
    return e.create<nd::SubOp>(span, next, params);
  if (*added)
    return *added;
  return e.full(0, mlir::cast<RankedTensorType>(params.getType()), false, span).as<Tensor>()->value;
}

} // namespace dyn::elab
