//===- NdSweep.h - derivatives of whole computations ----------------------===//
//
// Forward and reverse mode over the SSA graph between some values and some
// outputs, through the rules of Differentiable. Ops outside that graph, and
// ops whose inputs do not depend on the values, are not looked at.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_DIALECTS_ND_NDSWEEP_H
#define DYN_DIALECTS_ND_NDSWEEP_H

#include "dialects/Nd/NdOps.h"

namespace dyn::nd {

/// Whether values of this type have derivatives.
bool hasDerivative(mlir::Type type);
/// Zeros of exactly the type of `value`.
mlir::Value zerosOf(mlir::OpBuilder &builder, mlir::Value value);

/// One entry an output: whether it depends on `wrt` by a path of floats that no stop_gradient cuts. Paths may run
/// through enclosing regions but not through block arguments.
llvm::SmallVector<bool> dependsOn(llvm::ArrayRef<mlir::Value> outputs, llvm::ArrayRef<mlir::Value> wrt);

/// Reverse mode. `cotangents` has one value an output (null: zero); fills one gradient for each of `wrt`, null where
/// no output depends on it. `masked`: see VjpRequest. What `fixed` values are made of is not looked at.
llvm::LogicalResult reverseSweep(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> outputs,
                                 llvm::ArrayRef<mlir::Value> cotangents, llvm::ArrayRef<mlir::Value> wrt, bool masked,
                                 RefuseFn refuse, llvm::SmallVectorImpl<mlir::Value> &gradients,
                                 llvm::ArrayRef<mlir::Value> fixed = {});

/// Forward mode. `tangents` has one value for each of `wrt` (null: zero); fills one tangent an output (null: zero).
llvm::LogicalResult forwardSweep(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> outputs,
                                 llvm::ArrayRef<mlir::Value> wrt, llvm::ArrayRef<mlir::Value> tangents,
                                 RefuseFn refuse, llvm::SmallVectorImpl<mlir::Value> &outputTangents);

} // namespace dyn::nd

#endif // DYN_DIALECTS_ND_NDSWEEP_H
