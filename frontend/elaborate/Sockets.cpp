//===- Sockets.cpp - initial values and the update of a train -------------===//
#include "frontend/elaborate/TrainElaborator.h"

#include "frontend/elaborate/Patterns.h"

using namespace mlir;

namespace dyn::elab {

ir::SocketOp TrainElaborator::socket(const std::string &name, ir::SocketKind kind, Batch batch) {
  e.builder.setInsertionPointToEnd(&train.getBody().front());
  auto op = ir::SocketOp::create(e.builder, e.builder.getUnknownLoc(), name, kind, batch.feed, batch.size, batch.masked);
  top = &op.getBody().emplaceBlock();
  socketNow = op;
  e.builder.setInsertionPointToEnd(top);
  e.numberCacheBlock = nullptr;
  return op;
}

void TrainElaborator::initSocket() {
  socket("init", ir::SocketKind::init);
  e.drawStream = nd::Stream::init;
  e.mayDraw = true;
  for (ParamInfo *info : e.treeLeaves) {
    Frame frame{std::make_shared<Scope>(info->scope), nullptr, "init"};
    frame.assigning = info->path;
    InstantiationScope chain(e.diags, "`" + info->path + ": " + describeShape(info->shape) + "`", info->from);
    Value start = e.evaluate(*info->decl->init, frame);
    Span span = info->decl->init->span;
    if (info->decl->drawn) {
      start = e.drawValue(start, info->shape, {}, span, frame);
    }
    if (start.isInvalid())
      continue;
    auto t = e.tensor(start, span);
    if (!t)
      continue;
    *t = e.cast(*t, Elem::Real, false, span);
    auto type = RankedTensorType::get(info->shape, e.real());
    if (t->type().getElementType() != e.real())
      *t = {e.create<nd::CastOp>(span, t->value, e.real()), false, 0};
    if (t->type().getRank() == 0 && type.getRank() != 0)
      *t = e.broadcastScalar(*t, type, span);
    if (t->type() != type) {
      e.diags.report(Diag::write_type, span, info->path, describeType(type), describeType(t->type()));
      continue;
    }
    writeRange(paramsArena, info->offset, *t, info->path, span);
  }
  for (auto &[key, state] : states)
    startState(state);
  startModelStates();
  startServed();
  startUpdates();
  e.mayDraw = false;
}

/// The rule's own names as they are at the start: parameters just drawn, sizes, hyperparameters.
void TrainElaborator::startState(const State &state) {
  if (!state.decl) {
    auto zero = e.materialise(Const{0, Elem::Int, false, ""}, Span());
    return writeRange(state.arena, state.offset, zero, state.name, Span());
  }
  auto start = std::make_shared<Scope>(state.scope);
  Span span = state.decl->init->span;
  defineParams(start, state.place, span);
  Frame frame{start, nullptr, state.site};
  frame.assigning = state.name;
  if (auto t = startValue(*state.decl, state.type, frame))
    writeRange(state.arena, state.offset, *t, state.name, span);
}

/// What a state's declaration gives at the start, in the state's type.
std::optional<Tensor> TrainElaborator::startValue(const ast::StateStmt &decl, RankedTensorType type, Frame &frame) {
  Span span = decl.init->span;
  Value value = e.evaluate(*decl.init, frame);
  if (decl.drawn)
    value = e.drawValue(value, type.getShape(), type.getEncoding(), span, frame);
  auto t = value.isInvalid() ? std::nullopt : e.tensor(value, span);
  if (!t)
    return std::nullopt;
  *t = e.cast(*t, elemOfType(type), false, span);
  if (t->type().getElementType() != type.getElementType())
    *t = {e.create<nd::CastOp>(span, t->value, type.getElementType()), false, 0};
  if (t->type().getRank() == 0 && type.getRank() != 0)
    *t = e.broadcastScalar(*t, type, span);
  return t;
}

int64_t TrainElaborator::metric(const std::string &name, ArrayRef<int64_t> shape, Span span, bool leafAxis) {
  for (auto &metric : out->plan.metrics)
    if (metric.name == name) {
      e.diags.report(Diag::metric_twice, span, name);
      return 0;
    }
  for (auto &metric : out->plan.metrics)
    for (auto [one, other] : {std::pair(metric.name, name), std::pair(name, metric.name)})
      if (llvm::StringRef(other).starts_with(one + ".")) {
        e.diags.report(Diag::metric_and_group, span, one).help("give the `eval` or what is emitted another name");
        return 0;
      }
  plan::Metric metric{name, "step", {shape.begin(), shape.end()}, {}, {}};
  if (leafAxis) {
    metric.axes.push_back("leaf");
    metric.labels.emplace_back();
    for (ParamInfo *leaf : running ? running->place.leaves : e.treeLeaves)
      metric.labels.back().push_back(leaf->path);
  }
  out->plan.metrics.push_back(std::move(metric));
  return static_cast<int64_t>(out->plan.metrics.size()) - 1;
}

void TrainElaborator::emit(const std::string &name, const Value &value, Span span) {
  auto t = e.tensor(value, span, "a metric");
  if (!t)
    return;
  Attribute encoding = t->type().getEncoding();
  if (isa_and_present<ir::LeavesAttr, ir::AxesAttr>(encoding)) {
    e.diags.report(Diag::emit_type, span, name, describeType(t->type()))
        .help("reduce it first: `norm(…)` gives one number a leaf, `mean(…, over=example)` one a batch");
    return;
  }
  // Bytes in a row, as the fields of a text are: `class(256)[n]`.
  bool isText = t->classes == 256 && t->type().getRank() == 1 && !encoding;
  if (elemOfType(t->type()) == Elem::Bool)
    *t = e.cast(*t, Elem::Int, false, span);
  if (elemOfType(t->type()) == Elem::Int)
    *t = e.cast(*t, Elem::Real, false, span);
  mlir::Value stored = t->value;
  if (encoding)
    stored = e.create<ir::RecastOp>(span, ir::withEncoding(t->type(), {}), stored);
  int64_t index = metric(metricPrefix + name, t->type().getShape(), span, isa_and_present<ir::PerLeafAttr>(encoding));
  out->plan.metrics[static_cast<size_t>(index)].text = isText;
  run::EmitOp::create(e.builder, e.loc(span), stored, index);
  foldMetric(metricPrefix + name, Tensor{stored, false, 0}, span);
}

/// The loss of the present batch is a metric, and a run in which it is not finite stops.
void TrainElaborator::reportLoss(mlir::Value loss, Span span) {
  emit("loss", Value(Tensor{loss, false, 0}, span), span);
  run::GuardOp::create(e.builder, e.loc(span), loss, static_cast<int64_t>(out->plan.sites.size()), "loss");
  out->plan.sites.push_back({"guard", "loss", e.diags.sources().describe(span)});
}

/// The gradient on the present batch.
Value TrainElaborator::lossAndGradient(const Value &params, Span span) {
  auto number = RankedTensorType::get({}, e.real());
  const Tensor &tree = *params.as<Tensor>();
  auto gradient = ir::GradientOp::create(e.builder, e.loc(span), number, tree.type(), "loss", tree.value);
  reportLoss(gradient.getLoss(), span);
  return Value(Tensor{gradient.getGradient(), false, 0}, span);
}

void TrainElaborator::updateSocket(const Clauses &clauses) {
  socket("update", ir::SocketKind::update);
  Span span = clauses.loss->span;
  auto type = treeType(e.treeLeaves, false);
  passParams = readRange(paramsArena, 0, type, "params", span);
  Value grads;
  if (request.gradientsGiven) {
    int64_t arena = static_cast<int64_t>(out->plan.arenas.size());
    out->plan.arenas.push_back({"grads", "grads", out->plan.arenas[paramsArena].bytes});
    grads = readRange(arena, 0, type, "grads", span);
  } else if (clauses.estimators.empty())
    grads = lossAndGradient(passParams, span);
  else if (auto rule = ruleOf(*clauses.estimators.front())) {
    estimator.emplace(*rule, clauses.estimators.front());
    lossAlone(passParams, span);
  } else
    return;
  if (!placeClips(clauses))
    return;
  e.mayDraw = e.drawsByStep = true;
  e.drawStream = nd::Stream::noise;
  if (estimator)
    grads = estimated(passParams, true);
  grads = grads.isInvalid() ? grads : applyClips(grads, true);
  if (!grads.isInvalid())
    for (Owner &owner : owners)
      applyOptimizer(owner, grads);
  if (!request.gradientsGiven)
    keepModelStates(passParams, span);
  estimator.reset();
  e.mayDraw = e.drawsByStep = false;
}

} // namespace dyn::elab
