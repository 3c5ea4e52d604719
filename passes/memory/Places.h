//===- Places.h - where an array is ---------------------------------------===//
//
// What plan-memory writes and the lowering reads. A value is either *made* at
// the place that its op's `places` gives, or it is a *view*: the same bytes as
// another value from some byte on.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_PASSES_MEMORY_PLACES_H
#define DYN_PASSES_MEMORY_PLACES_H

#include "dialects/Kernel/KernelOps.h"
#include "dialects/Nd/NdOps.h"

namespace dyn::memory {

/// Bytes from `offset` of `arena` on; moves by `stride` bytes with each pass of the enclosing scan.
struct Place {
  int64_t arena = -1, offset = 0, stride = 0;
  bool operator==(const Place &) const = default;
};

/// The value whose bytes `value` has, and from which byte on.
struct View {
  mlir::Value base;
  int64_t bytes = 0;
};

int64_t elementBytes(mlir::Type type);
int64_t bytesOf(mlir::Value value);
inline bool isScalar(mlir::Value value) { return nd::typeOf(value).getRank() == 0; }

/// Follows reshapes and contiguous slices.
View viewOf(mlir::Value value);
/// Slot of operand i of a concat in its result, if slots are contiguous.
std::optional<int64_t> concatSlot(nd::ConcatOp op, unsigned i);

/// Place of result i as plan-memory left it.
std::optional<Place> placeOfResult(mlir::Operation *op, unsigned i);
/// Place of any array value: of its result, arena range, or carry, with views followed. Nothing for what is no place in
/// an arena (rows of a batch, constants, rows of a scanned array).
std::optional<Place> placeOf(mlir::Value value);

/// Elements of a block of a total reduction: fixed, so that bits depend on the shape only.
constexpr int64_t reductionBlock = 8192;
/// How a total reduction over `domain` is cut.
struct TotalShape {
  int64_t items = 1;      ///< rows, or elements if the loop is flat
  int64_t blockItems = 1; ///< items of a block
  int64_t blocks = 1;
};
TotalShape totalShapeOf(kernel::FusedOp op);
/// Whether the loop needs no index but one running over all elements.
bool isFlat(kernel::FusedOp op);
/// Whether input i is read at the index that is being made, and nowhere else.
bool readsOwnIndex(kernel::FusedOp op, unsigned i);

} // namespace dyn::memory

#endif // DYN_PASSES_MEMORY_PLACES_H
