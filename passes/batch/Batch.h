//===- Batch.h - a function for many rows at once -------------------------===//
#ifndef DYN_PASSES_BATCH_BATCH_H
#define DYN_PASSES_BATCH_BATCH_H

#include "dialects/Nd/NdBatch.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dyn {

/// Gives the arguments `arguments` of a function of one block, and the results that depend on them, a leading
/// dimension. Fails after an error at the op that cannot be batched; the function is then as it was.
/// To batch a block within other code, see nd::batchBlock.
[[nodiscard]] llvm::LogicalResult batchFunction(mlir::func::FuncOp function, llvm::ArrayRef<int64_t> arguments,
                                                const BatchRequest &request);

} // namespace dyn

#endif // DYN_PASSES_BATCH_BATCH_H
