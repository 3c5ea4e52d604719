//===- ModelStates.cpp - what models keep from step to step ---------------===//
//
// A state of a model has one value for all examples. It is read where the model
// runs, and what the objective writes is kept once a step, at the parameters
// that the step began with. Losses and gradients that are taken elsewhere in the
// step, evals and probes leave states alone.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/TrainElaborator.h"

#include "frontend/AstWalk.h"

using namespace mlir;

namespace dyn::elab {

static const char *modelsArena = "models.state";

/// Models are called from here on in the present block: their states are as the step began.
void TrainElaborator::enterModels(bool training) {
  e.training = training;
  modelBlock = e.builder.getInsertionBlock();
  for (auto &[path, state] : modelStates)
    state.now = Value();
}

/// The first name in an initial value that is only known while the model runs.
static const ast::NameExpr *readWhileRunning(const ast::StateStmt &stmt, Scope &scope) {
  const ast::NameExpr *early = nullptr;
  ast::walk(*stmt.init, [&](const ast::Node &node) {
    auto *name = ast::dynCast<ast::NameExpr>(&node);
    Binding *binding = name && !early ? scope.find(name->name) : nullptr;
    if (binding && (binding->lazy || binding->value.as<Tensor>()))
      early = name;
    return !early;
  });
  return early;
}

/// The type that declaration and initial value say; null after a report. What computes the value is dropped.
RankedTensorType TrainElaborator::modelStateType(const ModelState &state) {
  const ast::StateStmt &stmt = *state.decl;
  SmallVector<int64_t> shape;
  Elem elem = Elem::Real;
  if (stmt.type)
    return e.declaredShape(*stmt.type, state.scope, shape, elem)
               ? RankedTensorType::get(shape, e.elementType(elem, false))
               : RankedTensorType();
  RankedTensorType type;
  Block scratch;
  {
    OpBuilder::InsertionGuard guard(e.builder);
    e.builder.setInsertionPointToEnd(&scratch);
    e.numberCacheBlock = nullptr;
    Frame frame{std::make_shared<Scope>(state.scope)};
    Value init = e.evaluate(*stmt.init, frame);
    if (isDistribution(init))
      e.diags.report(Diag::state_without_shape, stmt.span, stmt.name.text)
          .help("say it: `state " + stmt.name.text + ": [n] ~ …`");
    else if (auto t = init.isInvalid() ? std::nullopt : e.tensor(init, stmt.init->span)) {
      Type element = t->type().getElementType();
      type = RankedTensorType::get(t->type().getShape(), isa<FloatType>(element) ? Type(e.real()) : element);
    }
    e.numberCacheBlock = nullptr;
  }
  scratch.dropAllReferences();
  scratch.clear();
  return type;
}

TrainElaborator::ModelState *TrainElaborator::modelStateOf(const ast::StateStmt &stmt, Frame &frame) {
  std::string path = (frame.self->path.empty() ? "" : frame.self->path + ".") + stmt.name.text;
  if (auto it = modelStates.find(path); it != modelStates.end())
    return &it->second;
  if (auto *early = readWhileRunning(stmt, *frame.scope)) {
    e.diags.report(Diag::state_starts_before, early->span, early->name, stmt.name.text)
        .help("a state of a model starts before the first step, from sizes, hyperparameters and draws");
    return nullptr;
  }
  ModelState state{path, &stmt, std::make_shared<Scope>(*frame.scope), {}, 0, 0, Value(), false};
  state.type = modelStateType(state);
  if (!state.type)
    return nullptr;
  std::tie(state.arena, state.offset) = placeInArena(modelsArena, state.type);
  out->plan.states.push_back({path, {state.type.getShape().begin(), state.type.getShape().end()}, elementOf(state.type),
                              state.arena, state.offset, plan::modelOwner});
  return &modelStates.emplace(path, std::move(state)).first->second;
}

void TrainElaborator::declareModelState(const ast::StateStmt &stmt, Frame &frame) {
  auto refused = [&] { frame.scope->define(stmt.name.text, Value(), NameKind::State, stmt.name.span); };
  if (!modelBlock) {
    e.notHere(stmt.span, "a model with `state`");
    return refused();
  }
  if (stmt.axis) {
    e.diags.report(Diag::not_supported, stmt.axis.span, "`" + stmt.axis.text + " state` in a model is")
        .help("a state of a model has one value: leave `" + stmt.axis.text + "` out");
    return refused();
  }
  ModelState *state = modelStateOf(stmt, frame);
  if (!state)
    return refused();
  if (state->now.isInvalid()) {
    // At the top: whatever loop or branch asks first.
    OpBuilder::InsertionGuard guard(e.builder);
    e.builder.setInsertionPointToStart(modelBlock);
    state->now = readRange(state->arena, state->offset, state->type, state->path, stmt.span);
  }
  Binding binding{state->now, NameKind::State, stmt.name.span, nullptr, nullptr};
  binding.state = std::make_shared<StateInfo>(StateInfo{stmt.name.text, state->type, false});
  frame.scope->names[stmt.name.text] = std::move(binding);
}

/// A model returned: the next call of the instance goes on from what it wrote.
void TrainElaborator::modelDone(const Instance &instance, Scope &scope, Span span) {
  for (auto &[name, binding] : scope.names) {
    if (binding.kind != NameKind::State || !binding.state || !binding.state->written)
      continue;
    if (e.builder.getInsertionBlock() != modelBlock) {
      e.diags.report(Diag::not_supported, span, "calling `" + instance.path + "`, which writes the state `" + name +
                                                    "`, in a loop or branch of the run is")
          .help("call the model in front of it");
      return;
    }
    ModelState &state = modelStates.at(instance.path.empty() ? name : instance.path + "." + name);
    state.now = binding.value;
    state.written |= e.training;
  }
}

/// What the objective gives beside its value.
SmallVector<mlir::Value> TrainElaborator::nextModelStates() {
  SmallVector<mlir::Value> values;
  for (auto &[path, state] : modelStates)
    if (auto *t = state.written ? state.now.as<Tensor>() : nullptr)
      values.push_back(t->value);
  return values;
}

/// Behind everything that a step does: the states as the objective at `params` leaves them.
void TrainElaborator::keepModelStates(const Value &params, Span span) {
  SmallVector<ModelState *> written;
  SmallVector<Type> types;
  for (auto &[path, state] : modelStates)
    if (state.written) {
      written.push_back(&state);
      types.push_back(state.type);
    }
  if (written.empty())
    return;
  auto next = ir::NextStatesOp::create(e.builder, e.loc(span), TypeRange(types), "loss", params.as<Tensor>()->value);
  for (auto [state, value] : llvm::zip(written, next.getStates()))
    writeRange(state->arena, state->offset, Tensor{value, false, 0}, state->path, state->decl->span);
}

void TrainElaborator::startModelStates() {
  for (auto &[path, state] : modelStates) {
    Frame frame{std::make_shared<Scope>(state.scope), nullptr, "init"};
    frame.assigning = path;
    if (auto t = startValue(*state.decl, state.type, frame))
      writeRange(state.arena, state.offset, *t, path, state.decl->init->span);
  }
}

} // namespace dyn::elab
