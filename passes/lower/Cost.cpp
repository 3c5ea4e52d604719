//===- Cost.cpp - when a loop is worth a second thread --------------------===//
//
// All constants of the cost model. They only decide between a direct call and
// dyn_parallel_for and how large pieces are, so a factor of two does not
// matter: a fork and join costs about half a microsecond, the threshold is
// forty times that.
//
//===----------------------------------------------------------------------===//
#include "passes/lower/Cost.h"

#include "passes/memory/Places.h"

using namespace mlir;

namespace dyn::lower {
namespace {

constexpr double bytesPerNanosecond = 12; ///< streaming, one core, from memory
constexpr double nanosecondsPerVectorOp = 0.15;
constexpr double weightOfFunction = 30;    ///< exp, tanh, …: a polynomial
constexpr double weightOfRoot = 10;        ///< sqrt, division
constexpr double worthThreads = 20000;     ///< ns: below, call directly
constexpr double pieceNanoseconds = 10000; ///< ns of one piece
constexpr int64_t grainMultiple = 64;      ///< elements: whole vectors, whole cache lines

double weightOf(Operation *op) {
  if (isa<nd::ExpOp, nd::Expm1Op, nd::LogOp, nd::Log1pOp, nd::SinOp, nd::CosOp, nd::TanhOp, nd::SigmoidOp, nd::ErfOp>(
          op))
    return weightOfFunction;
  if (isa<nd::PowOp>(op))
    return 4 * weightOfFunction;
  if (isa<nd::SqrtOp, nd::RsqrtOp, nd::DivOp, nd::RemOp, nd::FloordivOp>(op))
    return weightOfRoot;
  return 1;
}

} // namespace

double estimateNanoseconds(kernel::FusedOp op, int64_t lanes) {
  double bytes = 0, vectors = 0;
  for (Value input : op.getInputs())
    bytes += memory::bytesOf(input);
  for (Value result : op.getResults())
    bytes += memory::bytesOf(result);
  for (Operation &inner : op.getBody().front()) {
    if (inner.getNumResults() == 0)
      continue;
    Value shaped = isa<nd::ReduceOp>(inner) ? inner.getOperand(0) : inner.getResult(0);
    vectors += weightOf(&inner) * nd::typeOf(shaped).getNumElements() / lanes;
  }
  return std::max(bytes / bytesPerNanosecond, vectors * nanosecondsPerVectorOp);
}

int64_t grainOf(kernel::FusedOp op, int64_t extent, int64_t lanes) {
  double time = estimateNanoseconds(op, lanes);
  if (time < worthThreads || extent < 2)
    return 0;
  int64_t grain = std::max<int64_t>(1, extent * (pieceNanoseconds / time));
  // Flat loops count elements; rows and blocks are whole units already.
  if (op.getForm() == kernel::Form::map && memory::isFlat(op))
    grain = llvm::alignTo(grain, grainMultiple);
  return grain >= extent ? 0 : grain;
}

} // namespace dyn::lower
