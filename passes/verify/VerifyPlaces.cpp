//===- VerifyPlaces.cpp - every array that an op makes has a place --------===//
//
// A second look at plan-memory that shares none of its reasoning about lives:
// it only compares bytes within one op.
//
//===----------------------------------------------------------------------===//
#include "passes/verify/Passes.h"

#include "dialects/Run/RunOps.h"
#include "passes/fuse/Clusters.h"
#include "passes/memory/Places.h"

namespace dyn::verify {
#define GEN_PASS_DEF_VERIFYPLACESPASS
#include "passes/verify/Passes.h.inc"
} // namespace dyn::verify

using namespace mlir;

namespace dyn::verify {
namespace {

using memory::Place;

bool overlap(const Place &a, int64_t aBytes, const Place &b, int64_t bBytes) {
  return a.arena == b.arena && a.stride == 0 && b.stride == 0 && a.offset < b.offset + bBytes &&
         b.offset < a.offset + aBytes;
}

LogicalResult verifyHasPlaces(Operation *op) {
  if (isa<nd::ConstantOp, nd::ReshapeOp>(op) || fuse::isView(op) || isa<run::RunDialect>(op->getDialect()))
    return success();
  for (auto [i, value] : llvm::enumerate(op->getResults())) {
    if (memory::isScalar(value))
      continue;
    std::optional<Place> place = memory::placeOfResult(op, i);
    if (!place)
      return op->emitOpError("has no place for result ") << i;
    if (place->arena < 0 || place->offset < 0)
      return op->emitOpError("has a place out of range for result ") << i;
  }
  return success();
}

/// Results apart from each other, and from inputs but where `mayShare(input number)`, at the very same place, says so; `clash` is
/// what is said of an input otherwise.
LogicalResult verifyResultsApart(Operation *op, llvm::function_ref<bool(unsigned)> mayShare,
                                 llvm::function_ref<LogicalResult(unsigned, unsigned)> clash) {
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    if (memory::isScalar(result))
      continue;
    Place mine = *memory::placeOfResult(op, i);
    int64_t bytes = memory::bytesOf(result);
    for (auto [j, other] : llvm::enumerate(op->getResults().take_front(i)))
      if (!memory::isScalar(other) && overlap(mine, bytes, *memory::placeOfResult(op, j), memory::bytesOf(other)))
        return op->emitOpError("writes results ") << j << " and " << i << " to the same bytes";
    for (auto [j, input] : llvm::enumerate(op->getOperands())) {
      std::optional<Place> theirs = memory::isScalar(input) ? std::nullopt : memory::placeOf(input);
      if (theirs && overlap(mine, bytes, *theirs, memory::bytesOf(input)) && !(*theirs == mine && mayShare(j)))
        return clash(i, j);
    }
  }
  return success();
}

/// An input may lie under a result where an element is read just before it is written.
LogicalResult verifyApart(kernel::FusedOp op) {
  return verifyResultsApart(
      op, [&](unsigned input) { return memory::readsOwnIndex(op, input); },
      [&](unsigned result, unsigned input) -> LogicalResult {
        return op.emitOpError("writes result ") << result << " over input " << input << ", which it reads elsewhere";
      });
}

LogicalResult verifyApart(kernel::ProductOp op) {
  Place mine = *memory::placeOfResult(op, 0);
  for (Value input : op.getOperands()) {
    std::optional<Place> theirs = memory::placeOf(input);
    if (theirs && overlap(mine, memory::bytesOf(op.getResult()), *theirs, memory::bytesOf(input)))
      return op.emitOpError("writes over an operand");
  }
  // Its epilogue writes while it still reads.
  auto fused = dyn_cast_or_null<kernel::FusedOp>(op->getNextNode());
  for (unsigned i = 0; fused && fused.getEpilogue() && i < fused.getNumResults(); ++i) {
    if (memory::isScalar(fused.getResult(i)))
      continue;
    Place place = *memory::placeOfResult(fused, i);
    for (Value input : op.getOperands()) {
      std::optional<Place> theirs = memory::placeOf(input);
      if (theirs && overlap(place, memory::bytesOf(fused.getResult(i)), *theirs, memory::bytesOf(input)))
        return fused.emitOpError("writes over an operand of the product that it follows");
    }
  }
  return success();
}

/// A routine reads its inputs while it writes: nothing lies on anything else.
LogicalResult verifyApart(kernel::CallOp op) {
  return verifyResultsApart(
      op, [](unsigned) { return false; },
      [&](unsigned, unsigned) -> LogicalResult { return op.emitOpError("writes over an operand"); });
}

struct VerifyPlaces : impl::VerifyPlacesPassBase<VerifyPlaces> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != getOperation())
        ops.push_back(op);
      return isa<kernel::FusedOp>(op) ? WalkResult::skip() : WalkResult::advance();
    });
    for (Operation *op : ops)
      if (failed(verifyHasPlaces(op)))
        return signalPassFailure();
    for (Operation *op : ops) {
      auto fused = dyn_cast<kernel::FusedOp>(op);
      auto product = dyn_cast<kernel::ProductOp>(op);
      auto call = dyn_cast<kernel::CallOp>(op);
      if ((fused && failed(verifyApart(fused))) || (product && failed(verifyApart(product))) ||
          (call && failed(verifyApart(call))))
        return signalPassFailure();
    }
  }
};

} // namespace
} // namespace dyn::verify
