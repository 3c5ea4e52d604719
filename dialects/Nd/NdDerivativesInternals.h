//===- NdDerivativesInternals.h - shared by the derivative files ----------===//
#ifndef DYN_DIALECTS_ND_NDDERIVATIVESINTERNALS_H
#define DYN_DIALECTS_ND_NDDERIVATIVESINTERNALS_H

#include "dialects/Nd/NdOps.h"
#include "dialects/Nd/NdSweep.h"

namespace dyn::nd {

/// x with the order of dimension dim turned round.
mlir::Value reversed(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x, int64_t dim);
/// The dimensions of a value of `rank` that are not in `dims`.
llvm::SmallVector<int64_t> otherDims(int64_t rank, llvm::ArrayRef<int64_t> dims);
/// x with dimension `dim` moved to the front (or back from it).
mlir::Value dimToFront(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x, int64_t dim);
mlir::Value dimFromFront(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x, int64_t dim);

} // namespace dyn::nd

#endif // DYN_DIALECTS_ND_NDDERIVATIVESINTERNALS_H
