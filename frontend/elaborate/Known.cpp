//===- Known.cpp - values computed now ------------------------------------===//
//
// An experiment is elaborated like a rule, and its values are then computed by
// the plain evaluator: functions mean the same in both.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/Elaborator.h"
#include "frontend/elaborate/Series.h"

#include "dialects/Nd/NdDraws.h"

#include <cmath>

using namespace mlir;

namespace dyn::elab {

/// What `value` is computed from and `known` lacks, operands first; false if some of it is only known in a run.
static bool gather(mlir::Value value, const nd::ValueMap &known, llvm::SetVector<Operation *> &ops) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (known.contains(value) || ops.contains(op))
    return true;
  for (mlir::Value input : getInputs(op))
    if (!gather(input, known, ops))
      return false;
  ops.insert(op);
  return true;
}

//===----------------------------------------------------------------------===//
// What is kept
//===----------------------------------------------------------------------===//

/// Bytes of known values that are kept in any case.
static constexpr int64_t keptBytes = int64_t(256) << 20;

static int64_t bytesOf(const nd::NdArray &array) { return array.size() * int64_t(sizeof(double)); }

/// Whether an op, or one that it stands in, is computed already.
static bool isKnown(Operation *op, const nd::ValueMap &known) {
  for (; op; op = op->getParentOp())
    if (op->getNumResults() != 0 && known.contains(op->getResult(0)))
      return true;
  return false;
}

void Elaborator::keepKnown(Operation *op, ArrayRef<nd::NdArray> results) {
  for (auto [result, array] : llvm::zip(op->getResults(), results)) {
    hostCache[result] = array;
    hostBytes += bytesOf(array);
  }
  if (hostBytes <= hostLimit)
    return;
  SmallVector<Operation *> spent;
  int64_t left = 0;
  for (auto &[value, array] : hostCache) {
    Operation *made = value.getDefiningOp();
    auto users = made->getUsers();
    // What nothing uses was asked for, and may be once more.
    if (!users.empty() && llvm::all_of(users, [&](Operation *user) { return isKnown(user, hostCache); }))
      spent.push_back(made);
    else
      left += bytesOf(array);
  }
  for (Operation *each : spent)
    for (mlir::Value result : each->getResults())
      hostCache.erase(result);
  hostBytes = left;
  hostLimit = std::max(keptBytes, 2 * left);
}

//===----------------------------------------------------------------------===//
// What the plain evaluator is not asked for
//===----------------------------------------------------------------------===//

/// Elements of one value of an experiment: 1 GiB of doubles.
static constexpr int64_t mostKnownElements = int64_t(1) << 27;
/// Whole numbers of an experiment are kept in doubles: beyond this they would lose digits unseen.
static constexpr double mostWhole = 0x1p53;

/// The greatest magnitude that a whole number meets where `op` computes it, in reals, which do not wrap.
static double greatestWhole(Operation *op, ArrayRef<nd::NdArray> in) {
  double most = 0, running = 0;
  auto meet = [&](double x) { most = std::max(most, std::abs(x)); };
  if (isa<nd::MulOp>(op))
    for (int64_t i = 0; i < in[0].size(); ++i)
      meet(in[0].at(i) * in[1].at(i));
  // In whatever order: no partial sum is larger than that of the magnitudes.
  auto reduce = dyn_cast<nd::ReduceOp>(op);
  if (isa<nd::CumulateOp>(op) || (reduce && reduce.getKind() == nd::ReduceKind::sum))
    for (int64_t i = 0; i < in[0].size(); ++i)
      running += std::abs(in[0].at(i));
  if (reduce && reduce.getKind() == nd::ReduceKind::prod) {
    running = 1;
    for (int64_t i = 0; i < in[0].size(); ++i)
      running *= std::max(1.0, std::abs(in[0].at(i)));
  }
  meet(running);
  return most;
}

static bool dividesByZero(Operation *op, ArrayRef<nd::NdArray> in) {
  return isa<nd::FloordivOp, nd::RemOp>(op) && !in[1].isFloat() && llvm::is_contained(in[1].ints(), 0);
}

/// Whether an experiment can have the results of `op`; false after a report.
static bool fitsExperiment(Operation *op, DiagnosticEngine &diags, Span span) {
  for (mlir::Type type : op->getResultTypes()) {
    int64_t count = mlir::cast<RankedTensorType>(type).getNumElements();
    if (count <= mostKnownElements)
      continue;
    diags.report(Diag::cannot_compute, span, "an array of " + std::to_string(count) + " elements; outside a run one has at most " +
                                                 std::to_string(mostKnownElements))
        .help("compute it in a train, or reduce it part by part");
    return false;
  }
  return true;
}

/// Whether whole numbers came out as they are; false after a report.
static bool isExact(Operation *op, ArrayRef<nd::NdArray> in, ArrayRef<nd::NdArray> results, DiagnosticEngine &diags, Span span) {
  if (results.empty() || results.front().isFloat())
    return true;
  double most = greatestWhole(op, in);
  for (int64_t whole : results.front().ints())
    most = std::max(most, std::abs(static_cast<double>(whole)));
  if (most <= mostWhole)
    return true;
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", most);
  diags.report(Diag::number_out_of_range, span, text, "53 bits").help("compute with reals: `real(x)`");
  return false;
}

std::optional<HostArray> Elaborator::hostOf(mlir::Value value, Span span) {
  llvm::SetVector<Operation *> ops;
  if (!gather(value, hostCache, ops))
    return std::nullopt;
  nd::EvalHooks hooks;
  nd::Evaluator *running = nullptr;
  hooks.foreign = [&](Operation *op, ArrayRef<nd::NdArray> operands) -> FailureOr<nd::NdArrays> {
    if (isa<ir::RecastOp, ir::VaryOp>(op))
      return nd::NdArrays{operands.front()};
    // Nobody differentiates it any more.
    if (auto function = dyn_cast<ir::WithBackwardOp>(op)) {
      nd::ValueMap values = hostCache;
      return running->evalBlock(function.getFunction().front(), operands, values);
    }
    return failure();
  };
  if (drawKeys)
    hooks.draw = nd::runtimeDraws(*drawKeys);
  bool reported = false;
  hooks.error = [&](Operation *, const llvm::Twine &reason) {
    if (!std::exchange(reported, true))
      diags.report(Diag::cannot_compute, span, reason.str());
  };
  nd::Evaluator evaluator(hooks);
  running = &evaluator;
  for (Operation *op : ops) {
    if (hostCache.contains(op->getResult(0)))
      continue;
    nd::NdArrays operands;
    for (mlir::Value operand : op->getOperands())
      operands.push_back(hostCache.lookup(operand));
    if (dividesByZero(op, operands)) {
      diags.report(Diag::division_by_zero, span);
      return std::nullopt;
    }
    if (!fitsExperiment(op, diags, span))
      return std::nullopt;
    auto results = evaluator.evalOp(op, operands, hostCache);
    if (mlir::failed(results) || !isExact(op, operands, *results, diags, span))
      return std::nullopt;
    keepKnown(op, *results);
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
  if (auto *series = value.as<std::shared_ptr<Series>>(); series && (*series)->dims().empty() && !(*series)->isSketch && !(*series)->lacksSome())
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
  auto lacks = llvm::find_if(series.missing, [](const GapPtr &gap) { return gap != nullptr; });
  if (lacks != series.missing.end()) {
    std::string place = series.place(lacks - series.missing.begin());
    diags.report(Diag::missing_value, span, series.name, (place.empty() ? "" : " at " + place) + (*lacks)->why)
        .help((*lacks)->help);
  }
  return lacks == series.missing.end() && !series.isSketch;
}

} // namespace dyn::elab
