//===- Known.cpp - values computed now ------------------------------------===//
//
// An experiment is elaborated like a rule, and its values are then computed by
// the plain evaluator: functions mean the same in both.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/Elaborator.h"
#include "frontend/elaborate/Series.h"

#include "dialects/Nd/NdEval.h"

using namespace mlir;

namespace dyn::elab {

/// Everything that `value` is computed from, operands first; false if some of it is only known in a run.
static bool gather(mlir::Value value, llvm::SetVector<Operation *> &ops) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (ops.contains(op))
    return true;
  for (mlir::Value input : getInputs(op))
    if (!gather(input, ops))
      return false;
  ops.insert(op);
  return true;
}

std::optional<HostArray> Elaborator::hostOf(mlir::Value value, Span span) {
  llvm::SetVector<Operation *> ops;
  if (!gather(value, ops))
    return std::nullopt;
  nd::EvalHooks hooks;
  hooks.foreign = [](Operation *op, ArrayRef<nd::NdArray> operands) -> FailureOr<nd::NdArrays> {
    if (isa<ir::RecastOp, ir::VaryOp>(op))
      return nd::NdArrays{operands.front()};
    return failure();
  };
  bool reported = false;
  hooks.error = [&](Operation *, const llvm::Twine &reason) {
    if (!std::exchange(reported, true))
      diags.report(Diag::cannot_compute, span, reason.str());
  };
  nd::Evaluator evaluator(hooks);
  for (Operation *op : ops) {
    if (hostCache.contains(op->getResult(0)))
      continue;
    nd::NdArrays operands;
    for (mlir::Value operand : op->getOperands())
      operands.push_back(hostCache.lookup(operand));
    auto results = evaluator.evalOp(op, operands, hostCache);
    if (mlir::failed(results))
      return std::nullopt;
    for (auto [result, array] : llvm::zip(op->getResults(), *results))
      hostCache[result] = array;
  }
  const nd::NdArray &array = hostCache[value];
  HostArray host;
  host.shape.assign(array.shape().begin(), array.shape().end());
  auto type = mlir::cast<RankedTensorType>(value.getType());
  host.elem = elemOf(type.getElementType());
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    host.values.push_back(array.at(i));
  return host;
}

std::optional<HostArray> Elaborator::host(const Value &value, Span span) {
  if (auto *c = value.as<Const>())
    return HostArray{{}, {c->number}, c->elem};
  if (auto *series = value.as<std::shared_ptr<Series>>()) {
    if (!isWhole(**series, span))
      return std::nullopt;
    return HostArray{(*series)->dims(), (*series)->values, (*series)->elem};
  }
  auto *t = value.as<Tensor>();
  return t ? hostOf(t->value, span) : std::nullopt;
}

Value Elaborator::known(const Value &value, Span span) {
  if (auto *series = value.as<std::shared_ptr<Series>>(); series && (*series)->dims().empty() && !(*series)->isSketch)
    return Value(Const{(*series)->values.front(), (*series)->elem, true, (*series)->name}, span);
  auto *t = value.as<Tensor>();
  if (!t || t->type().getRank() != 0)
    return value;
  auto array = hostOf(t->value, span);
  if (!array)
    return value;
  return Value(Const{array->values[0], array->elem, true, ""}, span);
}

bool Elaborator::isWhole(const Series &series, Span span) {
  auto lacks = llvm::find(series.missing, true);
  if (lacks != series.missing.end()) {
    std::string place = series.place(lacks - series.missing.begin());
    diags.report(Diag::missing_value, span, series.name, place.empty() ? "" : " at " + place)
        .help("a run that ended before or diverged leaves none: choose members, `s[not s.diverged]`, or moments that all "
              "have, `x[step < n]`");
  }
  return lacks == series.missing.end() && !series.isSketch;
}

} // namespace dyn::elab
