//===- Rules.cpp - rules in the sockets of a train ------------------------===//
#include "frontend/elaborate/TrainElaborator.h"

#include "frontend/AstWalk.h"
#include "frontend/elaborate/Patterns.h"

#include <limits>

using namespace mlir;

namespace dyn::elab {

std::optional<Rule> TrainElaborator::ruleOf(const ast::RuleClause &clause) {
  Frame frame{std::make_shared<Scope>(scope)};
  bindLocals(frame.scope);
  RuleChange change;
  if (auto it = ruleChanges.find(&clause); it != ruleChanges.end())
    change = it->second;
  const ast::Expr *expr = &valueOf(clause);
  Value value = change.whole ? change.whole->value : e.evaluate(*expr, frame);
  if (auto *named = value.as<Rule>(); named && !named->hyper)
    value = e.instantiateRule(*named->decl, {}, expr->span, frame);
  for (const TrainChange *member : change.members)
    if (auto *whole = value.as<Rule>())
      value = e.adjustRule(*whole, member->part->path.names[1], member->value);
  auto *rule = value.as<Rule>();
  if (!rule) {
    if (!value.isInvalid())
      e.diags.report(Diag::wrong_kind, expr->span, print(*expr), describe(value),
                     std::string("a rule of the kind ") + ast::spelling(clause.rule));
    return std::nullopt;
  }
  if (rule->decl->rule != clause.rule) {
    e.diags.report(Diag::wrong_kind, expr->span, rule->decl->name.text,
                   std::string("a rule of the kind ") + ast::spelling(rule->decl->rule),
                   std::string("one of the kind ") + ast::spelling(clause.rule));
    return std::nullopt;
  }
  listSchedules(*rule, clause.name ? clause.name.text : rule->decl->name.text);
  return *rule;
}

/// The value of a schedule at the present step.
Value TrainElaborator::scheduled(const Rule &rule, Span span) {
  InstantiationScope chain(e.diags, rule.decl->name.text, span);
  auto scope = ruleScope(rule);
  scope->define("t", clock(run::ClockKind::step, span), NameKind::Socket, span);
  scope->define("total", clock(run::ClockKind::total, span), NameKind::Socket, span);
  scope->define("epoch", clock(run::ClockKind::epoch, span), NameKind::Socket, span);
  Frame frame{scope, nullptr, currentSite + "/" + rule.decl->name.text};
  return e.runBody(rule.decl->body, frame, span, "the schedule `" + rule.decl->name.text + "`");
}

/// The schedule that a number of a rule follows; nothing for other values, such as a schedule that the rule itself calls.
std::optional<Rule> TrainElaborator::scheduleOf(const Rule &rule, const std::string &name, const Binding &binding) {
  auto *schedule = binding.value.as<Rule>();
  if (!schedule || schedule->decl->rule != ast::RuleKind::Schedule)
    return std::nullopt;
  auto parameter = llvm::find_if(rule.decl->parameters.items, [&](auto &p) { return p.name.text == name; });
  auto *named = ast::dynCast<ast::NamedType>(parameter->type.get());
  if (named && named->name.text == "schedule")
    return std::nullopt;
  if (schedule->hyper)
    return *schedule;
  Frame frame{e.globals};
  Value made = e.instantiateRule(*schedule->decl, {}, binding.span, frame);
  return made.isInvalid() ? std::nullopt : std::optional(*made.as<Rule>());
}

/// For the plan that `dync check` prints.
void TrainElaborator::listSchedules(const Rule &rule, const std::string &owner) {
  for (auto &[name, binding] : rule.hyper->names)
    if (auto schedule = scheduleOf(rule, name, binding))
      out->schedules.push_back({owner + "." + name, *schedule});
}

/// The hyperparameters of a rule, those that are scheduled at their present value.
ScopePtr TrainElaborator::ruleScope(const Rule &rule) {
  auto scope = std::make_shared<Scope>(rule.hyper);
  for (auto &[name, binding] : rule.hyper->names) {
    auto schedule = scheduleOf(rule, name, binding);
    if (!schedule)
      continue;
    Value now = scheduled(*schedule, binding.value.origin);
    if (auto t = now.isInvalid() ? std::nullopt : e.tensor(now, binding.span); t)
      now = Value(e.cast(*t, Elem::Real, true, binding.span), binding.span);
    scope->define(name, now, NameKind::Hyperparameter, binding.span);
  }
  return scope;
}

void TrainElaborator::offerSocket(ScopePtr inner, const Value &params, bool countsFromOne) {
  Span span = params.origin;
  Value t = clock(run::ClockKind::step, span);
  if (countsFromOne)
    t = e.elementwise("add", t, e.integer(1, span), span);
  inner->define("t", t, NameKind::Socket, span);
  inner->define("loss", Value(Builtin{"@loss"}, span), NameKind::Socket, span);
  inner->define("gradient", Value(Builtin{"@gradient"}, span), NameKind::Socket, span);
  Record record;
  record.fields.emplace_back("size", e.integer(batch.size, span));
  inner->define("batch", Value(record, span), NameKind::Socket, span);
}

/// `loss(p)`, `gradient(p)`: the objective elsewhere, on the present batch.
Value TrainElaborator::socketCall(const std::string &name, const std::vector<ast::Argument> &args, Span span, Frame &frame) {
  if (args.size() != 1 || args.front().name) {
    e.diags.report(Diag::not_supported, span, "`" + name + "` with other arguments than one tree is");
    return {};
  }
  Value at = e.evaluate(*args.front().value, frame);
  if (at.isInvalid())
    return {};
  auto *tree = at.as<Tensor>();
  auto type = treeType(e.treeLeaves, false);
  if (!tree || tree->type() != type) {
    e.diags.report(Diag::recast, span, name, "the whole tree of parameters", describe(at));
    return {};
  }
  auto number = RankedTensorType::get({}, e.real());
  if (name == "loss")
    return Value(Tensor{e.create<ir::LossOp>(span, number, "loss", tree->value), false, 0}, span);
  auto op = ir::GradientOp::create(e.builder, e.loc(span), number, type, "loss", tree->value);
  return applyClips(Value(Tensor{op.getGradient(), false, 0}, span));
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// The first name in a state's initial value that the rule knows only while the run goes.
static const ast::NameExpr *readTooEarly(const ast::StateStmt &stmt, Scope &rule, Scope &start) {
  const ast::NameExpr *early = nullptr;
  ast::walk(*stmt.init, [&](const ast::Node &node) {
    auto *name = ast::dynCast<ast::NameExpr>(&node);
    if (name && !early && !start.find(name->name) && rule.find(name->name))
      early = name;
    return !early;
  });
  return early;
}

void TrainElaborator::declareState(const ast::StateStmt &stmt, Frame &frame) {
  std::string key = currentSite + "." + stmt.name.text;
  if (!ruleLeaves) {
    e.diags.report(Diag::not_supported, stmt.span, "a `state` here is").help("an optimizer or a clip may have states");
    return frame.scope->define(stmt.name.text, Value(), NameKind::State, stmt.name.span);
  }
  if (auto *early = readTooEarly(stmt, *frame.scope, *ruleStart)) {
    e.diags.report(Diag::state_starts_before, early->span, early->name, stmt.name.text)
        .help("a state starts before the first step, from sizes, hyperparameters, `params` and draws");
    return frame.scope->define(stmt.name.text, Value(), NameKind::State, stmt.name.span);
  }
  if (stmt.axis && stmt.axis.text != "leaf") {
    e.diags.report(Diag::not_supported, stmt.axis.span, "`" + stmt.axis.text + " state` is");
    return;
  }
  auto it = states.find(key);
  if (it == states.end()) {
    // The initial value says the type; what computes it runs once, before the first step.
    RankedTensorType type;
    Block scratch;
    {
      OpBuilder::InsertionGuard guard(e.builder);
      e.builder.setInsertionPointToEnd(&scratch);
      e.numberCacheBlock = nullptr;
      SmallVector<int64_t> shape;
      Elem elem = Elem::Real;
      bool declared = stmt.type && e.declaredShape(*stmt.type, frame.scope, shape, elem);
      Frame start{std::make_shared<Scope>(ruleStart), nullptr, frame.site};
      Value init = e.evaluate(*stmt.init, start);
      if (declared)
        type = RankedTensorType::get(shape, e.elementType(elem, false));
      else if (auto t = init.isInvalid() || init.as<Distribution>() ? std::nullopt : e.tensor(init, stmt.init->span)) {
        Type element = t->type().getElementType();
        if (isa<FloatType>(element))
          element = e.real();
        type = RankedTensorType::get(t->type().getShape(), element, t->type().getEncoding());
      } else if (init.as<Distribution>())
        e.diags.report(Diag::state_without_shape, stmt.span, stmt.name.text).help("say it: `state " + stmt.name.text + ": [n] ~ …`");
      e.numberCacheBlock = nullptr;
    }
    scratch.dropAllReferences();
    scratch.clear();
    if (!type) {
      frame.scope->define(stmt.name.text, Value(), NameKind::State, stmt.name.span);
      return;
    }
    if (stmt.axis && !type.getEncoding() && !rulePatterned) {
      if (type.getRank() != 0) {
        e.diags.report(Diag::not_supported, stmt.type ? stmt.type->span : stmt.init->span, "an array for each leaf is");
        return frame.scope->define(stmt.name.text, Value(), NameKind::State, stmt.name.span);
      }
      int64_t count = static_cast<int64_t>(ruleLeaves->size());
      type = RankedTensorType::get({count}, type.getElementType(), ir::PerLeafAttr::get(&e.context, count));
    }
    if (isa_and_present<ir::AxesAttr>(type.getEncoding())) {
      e.diags.report(Diag::axis_in_write, stmt.span, stmt.name.text, "example");
      return;
    }
    State state{&stmt, std::make_shared<Scope>(ruleStart), frame.site, type, 0, 0, *ruleLeaves, ruleFrom, rulePatterned};
    // One arena a rule and state, whatever the number of leaves; leaves of a patterned rule follow each other.
    std::string arenaName = currentSite.substr(0, currentSite.find('@')) + "." + stmt.name.text;
    plan::Plan &plan = out->plan;
    auto arena = llvm::find_if(plan.arenas, [&](auto &a) { return a.name == arenaName; });
    if (arena == plan.arenas.end()) {
      plan.arenas.push_back({arenaName, "state", 0});
      arena = plan.arenas.end() - 1;
    }
    plan::Element element = elemOfType(type) == Elem::Real  ? plan.precision
                            : elemOfType(type) == Elem::Int ? plan::Element::i64
                                                            : plan::Element::i1;
    int64_t size = plan::sizeOf(element);
    state.arena = arena - plan.arenas.begin();
    state.offset = (arena->bytes + size - 1) / size;
    arena->bytes = (state.offset + type.getNumElements()) * size;
    plan.states.push_back({key, {type.getShape().begin(), type.getShape().end()}, element, state.arena, state.offset,
                           currentSite});
    it = states.emplace(key, state).first;
    statesByOwner[currentSite].push_back(&it->second);
  }
  State &state = it->second;
  auto info = std::make_shared<StateInfo>(StateInfo{stmt.name.text, state.type, false});
  Binding binding;
  binding.value = readRange(state.arena, state.offset, state.type, stmt.name.text, stmt.span);
  binding.kind = NameKind::State;
  binding.span = stmt.name.span;
  binding.state = info;
  frame.scope->names[stmt.name.text] = binding;
}

static void defineWritable(ScopePtr scope, const std::string &name, const Value &value, Span span) {
  Binding binding;
  binding.value = value;
  binding.kind = NameKind::Socket;
  binding.span = span;
  binding.state = std::make_shared<StateInfo>(StateInfo{name, value.as<Tensor>()->type(), false});
  scope->names[name] = binding;
}

/// Runs a rule's body in `scope` and puts its states back.
void TrainElaborator::runRule(const Rule &rule, ScopePtr scope, const std::string &site,
                              const std::vector<ParamInfo *> &leaves, int64_t from, bool patterned) {
  currentSite = site;
  ruleLeaves = &leaves;
  ruleFrom = from;
  rulePatterned = patterned;
  ruleStart = std::make_shared<Scope>(rule.hyper);
  for (const char *name : {"params", "param"})
    if (Binding *binding = scope->find(name))
      ruleStart->define(name, binding->value, NameKind::Socket, binding->span);
  for (auto &[name, binding] : scope->names)
    if (binding.kind == NameKind::ShapeName)
      ruleStart->names[name] = binding;
  Frame frame{scope, nullptr, site};
  frame.rule = rule.decl;
  if (rule.decl->body.block)
    e.execute(*rule.decl->body.block, frame);
  if (e.hasFailed())
    return;
  for (State *state : statesByOwner[site]) {
    Binding *binding = scope->find(state->decl->name.text);
    if (binding && binding->state && binding->state->written && binding->value.as<Tensor>())
      writeRange(state->arena, state->offset, *binding->value.as<Tensor>(), state->decl->name.text, state->decl->span);
  }
  ruleLeaves = nullptr;
}

//===----------------------------------------------------------------------===//
// Clips
//===----------------------------------------------------------------------===//

Value TrainElaborator::applyClips(Value grads) {
  for (size_t k = 0; k < clips.size(); ++k) {
    auto &[rule, clause] = clips[k];
    Span span = clause->span;
    InstantiationScope chain(e.diags, rule.decl->name.text, span);
    currentSite = "clip" + std::to_string(k) + " " + rule.decl->name.text;
    ScopePtr inner = ruleScope(rule);
    Value params = readRange(0, 0, treeType(e.treeLeaves, false), "params", span);
    inner->define("params", params, NameKind::Socket, span);
    inner->define("param", e.recast(params, false, span), NameKind::Socket, span);
    inner->define("t", e.elementwise("add", clock(run::ClockKind::step, span), e.integer(1, span), span), NameKind::Socket, span);
    defineWritable(inner, "grads", grads, span);
    defineWritable(inner, "grad", e.recast(grads, false, span), span);
    runRule(rule, inner, currentSite, e.treeLeaves, 0, false);
    if (e.hasFailed())
      return {};
    Binding &whole = inner->names["grads"], &leafwise = inner->names["grad"];
    if (whole.state->written)
      grads = whole.value;
    else if (leafwise.state->written)
      grads = e.recast(leafwise.value, true, span);
    if (request.checkBounds && rule.decl->bounds) {
      auto after = std::make_shared<Scope>(inner);
      after->define("grads", grads, NameKind::Socket, span);
      after->define("grad", e.recast(grads, false, span), NameKind::Socket, span);
      checkBound(rule, after, span);
    }
  }
  return grads;
}

/// While tests run, a clip's promise `a <= b` is checked after each step, up to rounding.
void TrainElaborator::checkBound(const Rule &rule, ScopePtr scope, Span span) {
  auto *compare = ast::dynCast<ast::BinaryExpr>(rule.decl->bounds.get());
  if (!compare || (compare->op != ast::BinaryOp::Le && compare->op != ast::BinaryOp::Lt)) {
    e.diags.report(Diag::bound_form, rule.decl->bounds->span);
    return;
  }
  // In the passes of a rule's own loop (`gradient(p)`) there is no step to name.
  if (!isa<ir::SocketOp>(e.builder.getInsertionBlock()->getParentOp()))
    return;
  Frame frame{scope, nullptr, currentSite};
  Value a = e.evaluate(*compare->lhs, frame), b = e.evaluate(*compare->rhs, frame);
  if (a.isInvalid() || b.isInvalid())
    return;
  double slack = out->plan.precision == plan::Element::f64 ? 1e-12 : 1e-5;
  auto real = [&](double x) { return Value(Const{x, Elem::Real, false, ""}, span); };
  Value limit = e.binary(ast::BinaryOp::Mul, b, real(1 + slack), span);
  Value holds = e.binary(ast::BinaryOp::Le, a, limit, span);
  Value flag = e.select(holds, real(0), real(std::numeric_limits<double>::quiet_NaN()), span);
  auto t = flag.isInvalid() ? std::nullopt : e.tensor(flag, span);
  if (!t)
    return;
  // One promise a leaf is as many numbers to guard.
  mlir::Value guarded = t->value;
  if (t->type().getEncoding())
    guarded = e.create<ir::RecastOp>(span, ir::withEncoding(t->type(), {}), guarded);
  std::string promise = "`" + rule.decl->name.text + "` breaks its bound `" + print(*compare) + "`";
  run::GuardOp::create(e.builder, e.loc(span), guarded, static_cast<int64_t>(out->plan.sites.size()), promise);
  out->plan.sites.push_back({"bound", promise, e.diags.sources().describe(rule.decl->bounds->span)});
}

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

/// Whether a rule reads or writes whole trees of its group rather than one leaf.
static bool mentions(const ast::RuleDecl &rule, llvm::StringRef name) {
  bool found = false;
  if (rule.body.block)
    ast::walk(*rule.body.block, [&](const ast::Node &node) {
      if (auto *n = ast::dynCast<ast::NameExpr>(&node))
        found |= n->name == name;
      return !found;
    });
  return found;
}

void TrainElaborator::applyOptimizer(Owner &owner, const Value &grads) {
  bool byLeaf = owner.rule.decl->on && ast::isa<ast::ShapePattern>(owner.rule.decl->on.get());
  if (byLeaf)
    applyByLeaf(owner, grads);
  else
    applyLeafwise(owner, grads);
}

/// One range for all leaves of the group: `param`, `grad` leaf by leaf, `params`, `grads` as trees of the same bytes.
void TrainElaborator::applyLeafwise(Owner &owner, const Value &grads) {
  Span span = owner.clause->span;
  InstantiationScope chain(e.diags, owner.rule.decl->name.text, span);
  currentSite = "optimizer " + owner.name;
  ScopePtr inner = ruleScope(owner.rule);
  auto tree = treeType(owner.leaves, false);
  auto leavesType = treeType(owner.leaves, true);
  Value params = readRange(0, owner.offset, tree, "params", span);
  Value mine = grads;
  if (owner.size != grads.as<Tensor>()->type().getNumElements()) {
    auto flat = e.create<ir::RecastOp>(span, ir::withEncoding(grads.as<Tensor>()->type(), {}), grads.as<Tensor>()->value);
    auto part = e.create<nd::SliceOp>(span, flat, ArrayRef<int64_t>{owner.offset}, ArrayRef<int64_t>{owner.size},
                                      ArrayRef<int64_t>{1});
    mine = Value(Tensor{e.create<ir::RecastOp>(span, tree, part), false, 0}, span);
  }
  auto asLeaves = [&](const Value &value) {
    return Value(Tensor{e.create<ir::RecastOp>(span, leavesType, value.as<Tensor>()->value), false, 0}, span);
  };
  defineWritable(inner, "params", params, span);
  defineWritable(inner, "param", asLeaves(params), span);
  inner->define("grads", mine, NameKind::Socket, span);
  inner->define("grad", asLeaves(mine), NameKind::Socket, span);
  offerSocket(inner, params, true);
  if ((mentions(*owner.rule.decl, "loss") || mentions(*owner.rule.decl, "gradient")) &&
      owner.leaves.size() != e.treeLeaves.size()) {
    e.diags.report(Diag::not_supported, span, "a rule that asks for the objective and owns only some parameters is");
    return;
  }
  runRule(owner.rule, inner, currentSite, owner.leaves, owner.offset, false);
  if (e.hasFailed())
    return;
  for (const char *name : {"params", "param"}) {
    Binding &binding = inner->names[name];
    if (!binding.state->written)
      continue;
    writeRange(0, owner.offset, *binding.value.as<Tensor>(), "params", span);
    break;
  }
}

/// A rule with a shape pattern is instantiated for each leaf.
void TrainElaborator::applyByLeaf(Owner &owner, const Value &grads) {
  Span span = owner.clause->span;
  auto *pattern = ast::cast<ast::ShapePattern>(owner.rule.decl->on.get());
  const Tensor &tree = *grads.as<Tensor>();
  auto flat = e.create<ir::RecastOp>(span, ir::withEncoding(tree.type(), {}), tree.value);
  for (ParamInfo *leaf : owner.leaves) {
    InstantiationScope chain(e.diags, owner.rule.decl->name.text + " on `" + leaf->path + ": " + describeShape(leaf->shape) + "`", span);
    currentSite = "optimizer " + owner.name + "@" + leaf->path;
    ScopePtr inner = ruleScope(owner.rule);
    for (size_t i = 0; i < pattern->shape.size(); ++i)
      if (auto *name = ast::dynCast<ast::NameExpr>(pattern->shape[i].get()))
        inner->define(name->name, e.integer(leaf->shape[i], span), NameKind::ShapeName, name->span);
    auto type = RankedTensorType::get(leaf->shape, e.real());
    int64_t count = type.getNumElements();
    Value param = readRange(0, leaf->offset, type, leaf->path, span);
    auto part = e.create<nd::SliceOp>(span, flat, ArrayRef<int64_t>{leaf->offset}, ArrayRef<int64_t>{count},
                                      ArrayRef<int64_t>{1});
    auto grad = e.create<nd::ReshapeOp>(span, part, ArrayRef<int64_t>(leaf->shape));
    defineWritable(inner, "param", param, span);
    inner->define("grad", Value(Tensor{grad, false, 0}, span), NameKind::Socket, span);
    offerSocket(inner, param, true);
    std::vector<ParamInfo *> one = {leaf};
    runRule(owner.rule, inner, currentSite, one, leaf->offset, true);
    if (e.hasFailed())
      return;
    if (inner->names["param"].state->written)
      writeRange(0, leaf->offset, *inner->names["param"].value.as<Tensor>(), leaf->path, span);
  }
}

} // namespace dyn::elab
