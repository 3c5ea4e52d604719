//===- RuleStates.cpp - what rules keep from step to step -----------------===//
#include "frontend/elaborate/TrainElaborator.h"

#include "frontend/AstWalk.h"
#include "frontend/elaborate/Patterns.h"

using namespace mlir;

namespace dyn::elab {

/// What a state's initial value may read: hyperparameters, sizes, and the parameters as they are where this is read.
ScopePtr TrainElaborator::startScope(const Rule &rule, const Scope &scope, const RulePlace &place, Span span) {
  auto start = std::make_shared<Scope>(rule.hyper);
  for (auto &[name, binding] : scope.names)
    if (binding.kind == NameKind::ShapeName)
      start->names[name] = binding;
  defineParams(start, place, span);
  return start;
}

void TrainElaborator::defineParams(ScopePtr scope, const RulePlace &place, Span span) {
  std::string name = place.patterned ? place.leaf : "params";
  SmallVector<mlir::Value> parts;
  for (auto [from, count] : stretches(place.leaves))
    parts.push_back(readRange(paramsArena, from, RankedTensorType::get({count}, e.real()), name, span).as<Tensor>()->value);
  mlir::Value flat = parts.size() == 1 ? parts.front() : e.create<nd::ConcatOp>(span, ValueRange(parts), uint64_t(0));
  defineForms(scope, place, "param", flat, false, span);
}

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

/// The type that a state's declaration and initial value say; null after a report. What computes it is dropped: it runs
/// once, before the first step.
RankedTensorType TrainElaborator::stateType(const ast::StateStmt &stmt, Frame &frame) {
  RankedTensorType type;
  Block scratch;
  {
    OpBuilder::InsertionGuard guard(e.builder);
    e.builder.setInsertionPointToEnd(&scratch);
    e.numberCacheBlock = nullptr;
    SmallVector<int64_t> shape;
    Elem elem = Elem::Real;
    bool declared = stmt.type && e.declaredShape(*stmt.type, frame.scope, shape, elem);
    Frame start{std::make_shared<Scope>(running->start), nullptr, frame.site};
    Value init = e.evaluate(*stmt.init, start);
    if (declared)
      type = RankedTensorType::get(shape, e.elementType(elem, false));
    else if (auto t = init.isInvalid() || isDistribution(init) ? std::nullopt : e.tensor(init, stmt.init->span)) {
      Type element = t->type().getElementType();
      if (isa<FloatType>(element))
        element = e.real();
      type = RankedTensorType::get(t->type().getShape(), element, t->type().getEncoding());
    } else if (isDistribution(init))
      e.diags.report(Diag::state_without_shape, stmt.span, stmt.name.text).help("say it: `state " + stmt.name.text + ": [n] ~ …`");
    e.numberCacheBlock = nullptr;
  }
  scratch.dropAllReferences();
  scratch.clear();
  if (type && stmt.axis && !type.getEncoding() && !running->place.patterned) {
    if (type.getRank() != 0) {
      e.diags.report(Diag::not_supported, stmt.type ? stmt.type->span : stmt.init->span, "an array for each leaf is");
      return {};
    }
    int64_t count = static_cast<int64_t>(running->place.leaves.size());
    return RankedTensorType::get({count}, type.getElementType(), ir::PerLeafAttr::get(&e.context, count));
  }
  if (type && isa_and_present<ir::AxesAttr>(type.getEncoding())) {
    e.diags.report(Diag::axis_in_write, stmt.span, stmt.name.text, "example");
    return {};
  }
  return type;
}

plan::Element TrainElaborator::elementOf(RankedTensorType type) {
  switch (elemOfType(type)) {
  case Elem::Real: return out->plan.precision;
  case Elem::Int: return plan::Element::i64;
  case Elem::Bool: return plan::Element::i1;
  }
  return plan::Element::i1;
}

/// A place at the end of an arena of states, which it makes: arena, and offset in elements of the type.
std::pair<int64_t, int64_t> TrainElaborator::placeInArena(const std::string &name, RankedTensorType type) {
  plan::Plan &plan = out->plan;
  auto arena = llvm::find_if(plan.arenas, [&](auto &a) { return a.name == name; });
  if (arena == plan.arenas.end()) {
    plan.arenas.push_back({name, "state", 0});
    arena = plan.arenas.end() - 1;
  }
  int64_t size = plan::sizeOf(elementOf(type)), offset = (arena->bytes + size - 1) / size;
  arena->bytes = (offset + type.getNumElements()) * size;
  return {arena - plan.arenas.begin(), offset};
}

/// How an experiment names a rule: a clause by its name, and by its kind where it is the only one. Empty for rules whose
/// states stay theirs.
std::string TrainElaborator::publicName(llvm::StringRef rule) const {
  auto [kind, name] = rule.split(' ');
  bool isOptimizer = kind == "optimizer";
  if (!isOptimizer && !kind.starts_with("clip"))
    return "";
  const auto &written = isOptimizer ? clauses->optimizers : clauses->clips;
  auto [outer, held] = name.split('.');
  bool isOnly = written.size() == 1 && !written.front()->name;
  return (isOnly ? isOptimizer ? "optimizer" : "clip" : outer.str()) + (held.empty() ? "" : "." + held.str());
}

/// Tells the plan where the parts of a state are that have names in an experiment.
void TrainElaborator::publish(const State &state) {
  std::string path = publicName(state.place.rule);
  if (path.empty())
    return;
  path += "." + state.name;
  int64_t offset = state.offset;
  auto add = [&](const std::string &leaf, llvm::ArrayRef<int64_t> shape) {
    out->plan.ruleStates.push_back({leaf.empty() ? path : path + "." + leaf, {shape.begin(), shape.end()},
                                    elementOf(state.type), state.arena, offset, state.place.key()});
    offset += ShapedType::getNumElements(shape);
  };
  Attribute cut = state.type.getRank() == 1 ? state.type.getEncoding() : Attribute();
  if (isa_and_present<ir::LeavesAttr, ir::TreeAttr>(cut))
    for (const ParamInfo *leaf : state.place.leaves)
      add(leaf->path, leaf->shape);
  else if (isa_and_present<ir::PerLeafAttr>(cut))
    for (const ParamInfo *leaf : state.place.leaves)
      add(leaf->path, {});
  else
    add(state.place.leaf, state.type.getShape());
}

/// A place for a state of the rule that runs now: one arena a rule and state, whatever the number of leaves; leaves of a
/// patterned rule follow each other.
TrainElaborator::State &TrainElaborator::placeState(const std::string &name, RankedTensorType type,
                                                    const ast::StateStmt *decl, const std::string &site) {
  const RulePlace &at = running->place;
  State state{name, decl, running->start, site, type, 0, 0, at};
  std::tie(state.arena, state.offset) = placeInArena(at.rule + "." + name, type);
  std::string key = at.key() + "." + name;
  out->plan.states.push_back({key, {type.getShape().begin(), type.getShape().end()}, elementOf(type), state.arena,
                              state.offset, at.key()});
  State &placed = states.emplace(key, state).first->second;
  publish(placed);
  statesByOwner[at.key()].push_back(&placed);
  return placed;
}

/// The state that a statement declares; null after a report.
TrainElaborator::State *TrainElaborator::stateOf(const ast::StateStmt &stmt, Frame &frame) {
  auto it = states.find(running->place.key() + "." + stmt.name.text);
  if (it != states.end())
    return &it->second;
  if (auto *early = readTooEarly(stmt, *frame.scope, *running->start)) {
    e.diags.report(Diag::state_starts_before, early->span, early->name, stmt.name.text)
        .help("a state starts before the first step, from sizes, hyperparameters, `params` and draws");
    return nullptr;
  }
  RankedTensorType type = stateType(stmt, frame);
  return type ? &placeState(stmt.name.text, type, &stmt, frame.site) : nullptr;
}

Binding TrainElaborator::stateBinding(const State &state, Value value, Span span) {
  Binding binding;
  binding.value = std::move(value);
  binding.kind = NameKind::State;
  binding.span = span;
  binding.state = std::make_shared<StateInfo>(StateInfo{state.name, state.type, false});
  return binding;
}

void TrainElaborator::declareState(const ast::StateStmt &stmt, Frame &frame) {
  auto refused = [&] { frame.scope->define(stmt.name.text, Value(), NameKind::State, stmt.name.span); };
  if (frame.self)
    return declareModelState(stmt, frame);
  if (!running) {
    e.diags.report(Diag::not_supported, stmt.span, "a `state` here is").help("a model, an optimizer, a clip or a probe may have states");
    return refused();
  }
  if (stmt.axis && stmt.axis.text != "leaf") {
    e.diags.report(Diag::not_supported, stmt.axis.span, "`" + stmt.axis.text + " state` is");
    return refused();
  }
  // Those of a held rule have had their values since the holder began.
  Binding *held = running->held ? e.globals->find(running->place.key() + "." + stmt.name.text) : nullptr;
  // One that was refused then has been reported.
  if (running->held && !held && e.hasFailed())
    return refused();
  if (running->held && !held) {
    e.diags.report(Diag::not_supported, stmt.span, "a `state` inside a branch of a rule that is held is")
        .help("put it at the top of the rule");
    return refused();
  }
  State *state = stateOf(stmt, frame);
  if (!state)
    return refused();
  Value now = held ? held->value : readRange(state->arena, state->offset, state->type, state->name, stmt.span);
  frame.scope->names[stmt.name.text] = stateBinding(*state, std::move(now), stmt.name.span);
}

/// A state's value to its arena, if the rule wrote it.
void TrainElaborator::putBack(const State &state, const Binding *binding, Span span) {
  auto *t = binding && binding->state && binding->state->written ? binding->value.as<Tensor>() : nullptr;
  if (!t)
    return;
  if (t->type() != state.type) {
    e.diags.report(Diag::axis_in_write, span, state.name, "leaf")
        .help("reduce over `leaf` (`any(…, over=leaf)`) before the branch that writes it");
    return;
  }
  writeRange(state.arena, state.offset, *t, state.name, span);
}

void TrainElaborator::putBack(Scope &scope, const std::string &site, const std::vector<std::string> &held) {
  for (State *state : statesByOwner[site])
    if (state->decl)
      putBack(*state, scope.find(state->name), state->decl->span);
  for (const std::string &name : held) {
    const Binding *binding = e.globals->find(name);
    putBack(states.at(name), binding, binding->span);
  }
}

/// States as a probe sees them: `optimizer.state.m`, of a held rule `optimizer.state.base.m`.
Value TrainElaborator::stateRecord() {
  Record record;
  for (auto &[owner, list] : statesByOwner)
    for (State *state : list) {
      bool ofProbe = llvm::StringRef(owner).starts_with("probe_");
      if (ofProbe || state->place.patterned || !state->place.leaf.empty())
        continue;
      // Names of clauses hold no point: what is behind the first one is how rules hold each other.
      llvm::StringRef path = llvm::StringRef(owner).split('.').second;
      Record *into = &record;
      while (!path.empty()) {
        auto [name, rest] = path.split('.');
        auto field = llvm::find_if(into->fields, [&, &wanted = name](auto &have) { return have.first == wanted; });
        if (field == into->fields.end())
          field = into->fields.insert(field, {name.str(), Value(Record())});
        into = field->second.as<Record>();
        path = rest;
      }
      Span span = state->decl ? state->decl->span : Span();
      into->fields.emplace_back(state->name, readRange(state->arena, state->offset, state->type, state->name, span));
    }
  return Value(record);
}

} // namespace dyn::elab
