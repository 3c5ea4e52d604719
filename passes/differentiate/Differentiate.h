//===- Differentiate.h - derivatives of computations in nd ----------------===//
//
// The library behind `nd-differentiate`, called by earlier stages too. Ops are
// built at the builder's insertion point, which the outputs must dominate.
// `refuse` is told of an op that no derivative passes, with the reason; then
// the call fails.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_PASSES_DIFFERENTIATE_DIFFERENTIATE_H
#define DYN_PASSES_DIFFERENTIATE_DIFFERENTIATE_H

#include "dialects/interfaces/Interfaces.h"

namespace dyn {

/// The gradient of `output` with respect to each of `wrt`: reverse mode from `cotangent` (null: ones). A value that
/// the output does not depend on gets zeros; `dependent`, if given, says for each which case it is, so that a caller
/// can refuse a derivative that is zero everywhere.
[[nodiscard]] llvm::FailureOr<llvm::SmallVector<mlir::Value>>
buildGradient(mlir::OpBuilder &builder, mlir::Value output, mlir::Value cotangent, llvm::ArrayRef<mlir::Value> wrt,
              RefuseFn refuse, llvm::SmallVectorImpl<bool> *dependent = nullptr);

/// As above from several outputs, each with its cotangent (null: zero).
[[nodiscard]] llvm::FailureOr<llvm::SmallVector<mlir::Value>>
buildVectorJacobian(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> outputs,
                    llvm::ArrayRef<mlir::Value> cotangents, llvm::ArrayRef<mlir::Value> wrt, RefuseFn refuse,
                    llvm::SmallVectorImpl<bool> *dependent = nullptr);

/// Forward mode: how each output moves when each of `wrt` moves by its tangent (null: not at all). Zeros for outputs
/// that do not move.
[[nodiscard]] llvm::FailureOr<llvm::SmallVector<mlir::Value>>
buildJacobianVector(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> outputs, llvm::ArrayRef<mlir::Value> wrt,
                    llvm::ArrayRef<mlir::Value> tangents, RefuseFn refuse,
                    llvm::SmallVectorImpl<bool> *dependent = nullptr);

} // namespace dyn

#endif // DYN_PASSES_DIFFERENTIATE_DIFFERENTIATE_H
