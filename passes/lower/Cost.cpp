//===- Cost.cpp - what an op costs, and when it is worth a second thread --===//
//
// Costs of elementwise ops are columns of their table (NdElementwise.def). The constants here only decide between a direct call and
// dyn_parallel_for and how large pieces are, so a factor of two does not
// matter: a fork and join costs about half a microsecond, the threshold is
// forty times that.
//
//===----------------------------------------------------------------------===//
#include "passes/lower/Cost.h"

#include "passes/memory/Places.h"
#include "dialects/Nd/NdWindow.h"

using namespace mlir;

namespace dyn::lower {
namespace {

constexpr double bytesPerNanosecond = 12; ///< streaming, one core, from memory
constexpr double nanosecondsPerVectorOp = 0.15;
constexpr double worthThreads = 20000;     ///< ns: below, call directly
constexpr double pieceNanoseconds = 10000; ///< ns of one piece
constexpr int64_t grainMultiple = 64;      ///< elements: whole vectors, whole cache lines

struct ElementCost {
  double time = 1; ///< in vector additions
  int64_t flops = 0;
};

ElementCost costOfElement(Operation *op) {
#define ELEMENTWISE(OP, TIME, FLOPS)                                                                                   \
  if (isa<nd::OP>(op))                                                                                                 \
    return {TIME, FLOPS};
#include "dialects/Nd/NdElementwise.def"
  return {};
}

/// What a body reads of an array: all of it, or the rows and parts that it picks.
int64_t bytesRead(Value argument) {
  int64_t picked = 0;
  for (Operation *user : argument.getUsers()) {
    auto gather = dyn_cast<nd::GatherOp>(user);
    if (!isa<nd::SliceOp>(user) && !(gather && gather.getInput() == argument))
      return memory::bytesOf(argument);
    picked += memory::bytesOf(user->getResult(0));
  }
  return std::min(picked, memory::bytesOf(argument));
}

} // namespace

Value domainOf(Operation *op) {
  bool goesThroughInput = isa<nd::ReduceOp, nd::ArgReduceOp, nd::SegmentReduceOp, nd::UnwindowOp>(op);
  return goesThroughInput ? op->getOperand(0) : op->getResult(0);
}

int64_t flopsOf(Operation *op) {
  if (auto product = dyn_cast<kernel::ProductOp>(op)) {
    kernel::ProductShape s = kernel::shapeOf(product);
    return 2 * s.batch * s.m * s.n * s.k;
  }
  int64_t sum = 0;
  if (auto fused = dyn_cast<kernel::FusedOp>(op)) {
    for (Operation &inner : fused.getBody().front())
      sum += flopsOf(&inner);
    return sum;
  }
  if (op->getNumResults() != 1 || !isa<FloatType>(nd::typeOf(domainOf(op)).getElementType()))
    return 0;
  bool combines = isa<nd::ReduceOp, nd::ArgReduceOp, nd::SegmentReduceOp, nd::CumulateOp, nd::UnwindowOp>(op);
  return (combines ? 1 : costOfElement(op).flops) * nd::typeOf(domainOf(op)).getNumElements();
}

int64_t bytesMoved(kernel::FusedOp op) {
  int64_t bytes = 0;
  for (BlockArgument argument : op.getBody().getArguments())
    bytes += bytesRead(argument);
  for (Value result : op.getResults())
    bytes += memory::bytesOf(result);
  return bytes;
}

double estimateNanoseconds(kernel::FusedOp op, int64_t lanes) {
  double bytes = 0, vectors = 0;
  for (Value input : op.getInputs())
    bytes += memory::bytesOf(input);
  for (Value result : op.getResults())
    bytes += memory::bytesOf(result);
  for (Operation &inner : op.getBody().front()) {
    if (inner.getNumResults() == 0)
      continue;
    vectors += costOfElement(&inner).time * nd::typeOf(domainOf(&inner)).getNumElements() / lanes;
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
