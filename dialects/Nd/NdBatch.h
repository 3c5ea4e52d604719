//===- NdBatch.h - one leading dimension more for a whole block -----------===//
#ifndef DYN_DIALECTS_ND_NDBATCH_H
#define DYN_DIALECTS_ND_NDBATCH_H

#include "dialects/Nd/NdOps.h"

namespace dyn::nd {

/// What stands for a value after batching.
struct BatchedValue {
  mlir::Value value;
  bool batched = false;
};
/// Values that are not in the map stand for themselves, unbatched.
using BatchMap = llvm::DenseMap<mlir::Value, BatchedValue>;

/// The type with a leading dimension of `size`.
mlir::RankedTensorType withLeading(mlir::RankedTensorType type, int64_t size);
/// The value with a leading dimension: itself if batched, else repeated.
mlir::Value batchedOf(mlir::OpBuilder &builder, BatchedValue value, int64_t size);

/// Builds at the insertion point the ops of `block` but its terminator, batched where an input is; fills `map` with
/// their results. On failure an error was emitted.
llvm::LogicalResult batchBlock(mlir::OpBuilder &builder, mlir::Block &block, BatchMap &map,
                               const BatchRequest &request);
/// One op of it.
llvm::LogicalResult batchOp(mlir::OpBuilder &builder, mlir::Operation *op, BatchMap &map, const BatchRequest &request);

} // namespace dyn::nd

#endif // DYN_DIALECTS_ND_NDBATCH_H
