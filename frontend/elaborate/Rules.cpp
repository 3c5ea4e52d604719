//===- Rules.cpp - rules in the sockets of a train ------------------------===//
#include "frontend/elaborate/TrainElaborator.h"

#include "frontend/AstWalk.h"

using namespace mlir;

namespace dyn::elab {

/// `optimizer.base.lr = 0.1`: the rules on the way to what changes are made anew, from the inside out.
Value TrainElaborator::adjusted(Rule rule, const ast::Path &path, size_t at, const Value &value) {
  const ast::Ident &name = path.names[at];
  if (at + 1 == path.names.size())
    return e.adjustRule(rule, name, value);
  Binding *binding = rule.hyper->find(name.text);
  Value inner = binding ? binding->value : Value();
  if (auto *named = inner.as<Rule>(); named && !named->hyper) {
    Frame frame{rule.hyper};
    inner = e.instantiateRule(*named->decl, {}, name.span, frame);
  }
  auto *held = inner.as<Rule>();
  if (!held && binding && !inner.isInvalid())
    e.diags.report(Diag::wrong_kind, name.span, name.text, describe(inner), "a rule with hyperparameters");
  if (!binding)
    return e.adjustRule(rule, name, value); // says that there is none
  Value changed = held ? adjusted(*held, path, at + 1, value) : Value();
  return changed.isInvalid() ? Value() : e.adjustRule(rule, name, changed);
}

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
      value = adjusted(*whole, member->part->path, 1, member->value);
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

/// The value of a schedule at step `t`, by default the present one.
Value TrainElaborator::scheduled(const Rule &rule, Span span, std::optional<Value> t) {
  InstantiationScope chain(e.diags, rule.decl->name.text, span);
  auto scope = ruleScope(rule, nullptr);
  scope->define("t", t ? *t : clock(run::ClockKind::step, span), NameKind::Socket, span);
  scope->define("total", clock(run::ClockKind::total, span), NameKind::Socket, span);
  scope->define("epoch", clock(run::ClockKind::epoch, span), NameKind::Socket, span);
  Frame frame{scope, nullptr, (running ? running->place.key() : "") + "/" + rule.decl->name.text};
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
  for (auto &[name, binding] : rule.hyper->names) {
    if (auto schedule = scheduleOf(rule, name, binding))
      out->schedules.push_back({owner + "." + name, *schedule});
    else if (auto *held = binding.value.as<Rule>(); held && held->hyper)
      listSchedules(*held, owner + "." + name);
  }
}

/// The hyperparameters of a rule: those that are scheduled at their present value, rules as functions. Where states have
/// a place, those of optimizers and clips are listed in it.
ScopePtr TrainElaborator::ruleScope(const Rule &rule, const RulePlace *place, std::vector<std::string> *states) {
  auto scope = std::make_shared<Scope>(rule.hyper);
  for (auto &[name, binding] : rule.hyper->names) {
    if (auto schedule = scheduleOf(rule, name, binding)) {
      Value now = scheduled(*schedule, binding.value.origin);
      if (auto t = now.isInvalid() ? std::nullopt : e.tensor(now, binding.span); t)
        now = Value(e.cast(*t, Elem::Real, true, binding.span), binding.span);
      scope->define(name, now, NameKind::Hyperparameter, binding.span);
    } else if (auto *inner = binding.value.as<Rule>()) {
      bool isSchedule = inner->decl->rule == ast::RuleKind::Schedule;
      if (isSchedule || (place && states))
        scope->define(name, hold(name, *inner, place, states, binding), NameKind::Hyperparameter, binding.span);
    }
  }
  return scope;
}

//===----------------------------------------------------------------------===//
// A rule at its place
//===----------------------------------------------------------------------===//

static void defineWritable(ScopePtr scope, const std::string &name, const Value &value, Span span) {
  Binding binding;
  binding.value = value;
  binding.kind = NameKind::Socket;
  binding.span = span;
  binding.state = std::make_shared<StateInfo>(StateInfo{name, value.as<Tensor>()->type(), false});
  scope->names[name] = binding;
}

/// The leaf-wise and the whole-tree name of an array a leaf, or the one name of a single array.
void TrainElaborator::defineForms(ScopePtr scope, const RulePlace &place, const std::string &leafwise, mlir::Value flat,
                                  bool writable, Span span) {
  auto define = [&](const std::string &name, mlir::Value value) {
    Value made(Tensor{value, false, 0}, span);
    if (writable)
      defineWritable(scope, name, made, span);
    else
      scope->define(name, made, NameKind::Socket, span);
  };
  if (place.patterned)
    return define(leafwise, e.create<nd::ReshapeOp>(span, flat, ArrayRef<int64_t>(place.leaves[0]->shape)));
  for (bool each : {false, true}) {
    auto type = ir::withRange(flat.getType(), treeType(place.leaves, each).getEncoding());
    define(leafwise + (each ? "" : "s"), e.create<ir::RecastOp>(span, type, flat));
  }
}

/// What a rule wrote to a name or its twin, flat; `before` if it wrote neither.
mlir::Value TrainElaborator::written(Scope &scope, const std::string &leafwise, mlir::Value before, Span span) {
  for (const std::string &name : {leafwise + "s", leafwise})
    if (Binding *binding = scope.find(name); binding && binding->state && binding->state->written)
      return *flatOf(binding->value, span);
  return before;
}

/// The elements of an array, a tree or a leaf-wise value in order; nothing for other values.
std::optional<mlir::Value> TrainElaborator::flatOf(const Value &value, Span span) {
  auto *t = value.as<Tensor>();
  Attribute encoding = t ? ir::rangeOf(t->type().getEncoding()) : Attribute();
  if (isa_and_present<ir::TreeAttr, ir::LeavesAttr>(encoding))
    return e.create<ir::RecastOp>(span, ir::withRange(t->type(), {}), t->value);
  if (!t || encoding)
    return std::nullopt;
  return e.create<nd::ReshapeOp>(span, t->value, ArrayRef<int64_t>{t->type().getNumElements()});
}

/// Flat elements in the form of `like`.
Value TrainElaborator::inFormOf(mlir::Value flat, RankedTensorType like, Span span) {
  Attribute range = ir::rangeOf(like.getEncoding());
  mlir::Value value = range ? e.create<ir::RecastOp>(span, ir::withRange(flat.getType(), range), flat)
                            : e.create<nd::ReshapeOp>(span, flat, like.getShape());
  return Value(Tensor{value, false, 0}, span);
}

mlir::Value TrainElaborator::part(mlir::Value flat, int64_t from, int64_t count, Span span) {
  if (mlir::cast<RankedTensorType>(flat.getType()).getNumElements() == count)
    return flat;
  return e.create<nd::SliceOp>(span, flat, ArrayRef<int64_t>{from}, ArrayRef<int64_t>{count}, ArrayRef<int64_t>{1});
}

/// Whether a value is the parameters of `leaves`, or something of their form.
bool TrainElaborator::hasFormOf(const Value &value, const std::vector<ParamInfo *> &leaves) {
  auto *t = value.as<Tensor>();
  if (!t)
    return false;
  auto type = ir::withEncoding(t->type(), ir::rangeOf(t->type().getEncoding()));
  bool isArray = leaves.size() == 1 && type == RankedTensorType::get(leaves[0]->shape, e.real());
  return isArray || type == treeType(leaves, false) || type == treeType(leaves, true);
}

void TrainElaborator::offerSocket(ScopePtr inner, const Value &t, Span span) {
  inner->define("t", t, NameKind::Socket, span);
  inner->define("loss", Value(Builtin{"@loss"}, span), NameKind::Socket, span);
  inner->define("gradient", Value(Builtin{"@gradient"}, span), NameKind::Socket, span);
  Record record;
  record.fields.emplace_back("size", e.integer(batch.size, span));
  inner->define("batch", Value(record, span), NameKind::Socket, span);
}

/// How often a rule of the train itself has run, this time included.
Value TrainElaborator::applications(Span span) {
  return e.elementwise("add", clock(run::ClockKind::step, span), e.integer(1, span), span);
}

/// Parameters of the running rule as the whole flat tree: what it does not own is as the pass began. Nothing after a
/// report.
std::optional<mlir::Value> TrainElaborator::wholeTree(const Value &at, const std::string &name, Span span) {
  bool all = !running || running->place.leaves.size() == e.treeLeaves.size();
  const std::vector<ParamInfo *> &mine = all ? e.treeLeaves : running->place.leaves;
  if (!hasFormOf(at, mine)) {
    e.diags.report(Diag::recast, span, name, all ? "the whole tree of parameters" : "the parameters that the rule owns",
                   describe(at));
    return std::nullopt;
  }
  mlir::Value flat = *flatOf(at, span);
  if (all)
    return flat;
  int64_t from = running->place.from, count = elements(mine), total = elements(e.treeLeaves);
  mlir::Value rest = *flatOf(passParams, span);
  SmallVector<mlir::Value> parts = {flat};
  if (from > 0)
    parts.insert(parts.begin(), part(rest, 0, from, span));
  if (from + count < total)
    parts.push_back(part(rest, from + count, total - from - count, span));
  return e.create<nd::ConcatOp>(span, ValueRange(parts), uint64_t(0));
}

/// `loss(p)`, `gradient(p)`: the objective elsewhere, on the present batch, or each of its parts by itself.
Value TrainElaborator::socketCall(const std::string &name, const std::vector<ast::Argument> &args, Span span, Frame &frame) {
  if (llvm::StringRef field = name; field.consume_front("batch."))
    return batchField(field.str(), span);
  if (llvm::StringRef axis = name; axis.consume_front("index."))
    return placeOn(axis.str(), span);
  if (llvm::StringRef axis = name; axis.consume_front("elements."))
    return elementsOf(axis.split(' ').first.str(), axis.split(' ').second.str(), span);
  if (llvm::StringRef kind = name; kind.consume_front("fold "))
    return foldCall(kind.str(), args, span, frame);
  if (name == "loss.on")
    return lossOn(args, span, frame);
  llvm::StringRef whole = name; // of a set: a function that `loss.on` gave
  bool isWhole = whole.consume_front("loss over ");
  const ast::Expr *per = args.size() == 2 && args[1].name.text == "per" ? args[1].value.get() : nullptr;
  if (args.empty() || args.front().name || (args.size() != 1 && !per)) {
    e.diags.report(Diag::not_supported, span, "`" + name + "` with other arguments than one tree is");
    return {};
  }
  Value at = e.evaluate(*args.front().value, frame);
  auto flat = at.isInvalid() ? std::nullopt : wholeTree(at, name == "rows" || isWhole ? "loss" : name, span);
  if (!flat)
    return {};
  auto type = treeType(e.treeLeaves, false);
  Value tree = inFormOf(*flat, type, span);
  if (isWhole)
    return lossOver(whole, *tree.as<Tensor>(), span);
  if (name == "rows")
    return rowLosses(*tree.as<Tensor>(), presentRows(), span);
  if (per && name == "loss")
    return lossesPer(*per, tree, span, frame);
  auto number = RankedTensorType::get({}, e.real());
  if (name == "loss")
    return Value(Tensor{e.create<ir::LossOp>(span, number, "loss", tree.as<Tensor>()->value), false, 0}, span);
  Value grads;
  if (per)
    grads = gradientsPer(*per, tree, span, frame);
  else if (estimator && !estimating)
    grads = estimated(tree, false);
  else
    grads = Value(Tensor{ir::GradientOp::create(e.builder, e.loc(span), number, type, "loss", tree.as<Tensor>()->value).getGradient(),
                         false, 0},
                  span);
  grads = grads.isInvalid() || estimating ? grads : applyClips(grads, false);
  if (grads.isInvalid())
    return {};
  bool all = !running || running->place.leaves.size() == e.treeLeaves.size();
  int64_t from = all ? 0 : running->place.from, count = all ? type.getNumElements() : elements(running->place.leaves);
  return inFormOf(part(*flatOf(grads, span), from, count, span), at.as<Tensor>()->type(), span);
}

/// Runs a rule's body in `scope`. States that it wrote are put back, unless the pass only looks elsewhere.
void TrainElaborator::runRule(const Rule &rule, ScopePtr scope, const RulePlace &place,
                              const std::vector<std::string> &held, bool keeps) {
  Running now{place, startScope(rule, *scope, place, rule.decl->name.span), false};
  const Running *outer = std::exchange(running, &now);
  Frame frame{scope, nullptr, place.key()};
  frame.rule = rule.decl;
  if (rule.decl->body.block)
    e.execute(*rule.decl->body.block, frame);
  running = outer;
  if (!e.hasFailed() && keeps)
    putBack(*scope, place.key(), held);
  for (const std::string &name : held)
    e.globals->names.erase(name);
}

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

/// Whether a rule reads or writes a name of its kind.
bool TrainElaborator::mentions(const ast::RuleDecl &rule, llvm::StringRef name) {
  bool found = false;
  if (rule.body.block)
    ast::walk(*rule.body.block, [&](const ast::Node &node) {
      auto *used = ast::dynCast<ast::NameExpr>(&node);
      found |= used && used->name == name;
      return !found;
    });
  return found;
}

/// The places of an owner's rule: one range for all leaves, or each leaf by itself for a rule with a shape pattern.
std::vector<RulePlace> TrainElaborator::placesOf(const Owner &owner) {
  std::string name = "optimizer " + owner.name;
  if (!ast::dynCast<ast::ShapePattern>(owner.rule.decl->on.get()))
    return {RulePlace{name, "", owner.leaves, owner.offset, false}};
  std::vector<RulePlace> places;
  for (ParamInfo *leaf : owner.leaves)
    places.push_back({name, leaf->path, {leaf}, leaf->offset, true});
  return places;
}

/// The names that `on [m, n]` binds.
void TrainElaborator::defineSizes(const ast::RuleDecl &rule, const RulePlace &place, Scope &scope, Span span) {
  if (!place.patterned)
    return;
  auto *pattern = ast::cast<ast::ShapePattern>(rule.on.get());
  for (size_t i = 0; i < pattern->shape.size(); ++i)
    if (auto *name = ast::dynCast<ast::NameExpr>(pattern->shape[i].get()))
      scope.define(name->name, e.integer(place.leaves[0]->shape[i], span), NameKind::ShapeName, name->span);
}

void TrainElaborator::applyOptimizer(Owner &owner, const Value &grads) {
  for (const RulePlace &place : placesOf(owner)) {
    applyAt(owner, place, grads);
    if (e.hasFailed())
      return;
  }
}

void TrainElaborator::applyAt(Owner &owner, const RulePlace &place, const Value &grads) {
  Span span = owner.clause->span;
  const ast::RuleDecl &decl = *owner.rule.decl;
  std::string at = place.patterned ? " on `" + place.leaf + ": " + describeShape(place.leaves[0]->shape) + "`" : "";
  InstantiationScope chain(e.diags, decl.name.text + at, span);
  std::string name = place.patterned ? place.leaf : "params";
  int64_t count = elements(place.leaves);
  auto type = RankedTensorType::get({count}, e.real());
  std::vector<std::string> held;
  ScopePtr inner = ruleScope(owner.rule, &place, &held);
  defineSizes(decl, place, *inner, span);
  auto before = readRange(paramsArena, place.from, type, name, span).as<Tensor>()->value;
  defineForms(inner, place, "param", before, true, span);
  defineForms(inner, place, "grad", part(*flatOf(grads, span), place.from, count, span), false, span);
  offerSocket(inner, applications(span), span);
  if (owner.leaves.front()->served) {
    auto form = inner->find(place.patterned ? "param" : "params")->value.as<Tensor>()->type();
    auto so = readRange(servedArena, place.from, type, "served", span).as<Tensor>()->value;
    defineWritable(inner, "served", inFormOf(so, form, span), span);
    inner->names["served"].state->eitherForm = true;
  }
  runRule(owner.rule, inner, place, held, true);
  if (e.hasFailed())
    return;
  if (mlir::Value after = written(*inner, "param", {}, span)) {
    writeRange(paramsArena, place.from, Tensor{after, false, 0}, name, span);
    keepUpdate(place.from, before, after, span);
  }
  if (Binding *served = inner->find("served"); served && served->state && served->state->written)
    writeRange(servedArena, place.from, Tensor{*flatOf(served->value, span), false, 0}, "served", span);
}

} // namespace dyn::elab
