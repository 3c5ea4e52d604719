//===- Derivatives.h - dyn.derivative and dyn.with_backward in place ------===//
#ifndef DYN_PASSES_EXPAND_DERIVATIVES_H
#define DYN_PASSES_EXPAND_DERIVATIVES_H

#include "dialects/Dyn/DynOps.h"

namespace dyn::expand {

/// The leaves of a tree, each flat, as slices of it.
llvm::SmallVector<mlir::Value> flatLeaves(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tree);

/// Puts in the place of `op` its function's ops and their derivative, through the sweeps of nd. What is inside has no
/// `dyn.derivative` and no hidden axes any more. `refuse` is told of an op that no derivative passes; then it fails,
/// and `op` stays. Gives what stands for its results.
[[nodiscard]] llvm::FailureOr<llvm::SmallVector<mlir::Value>> expandDerivative(ir::DerivativeOp op, RefuseFn refuse);

/// Leaves the function of each `dyn.with_backward` in its place.
void dropBackward(mlir::Operation *root);

} // namespace dyn::expand

#endif // DYN_PASSES_EXPAND_DERIVATIVES_H
