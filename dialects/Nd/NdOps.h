//===- NdOps.h - the dialect nd and its ops -------------------------------===//
//
// Builders infer result types wherever operands and attributes determine
// them: `AddOp::create(b, loc, x, y)`, `ReduceOp::create(b, loc, x,
// ReduceKind::sum, dims)`.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_DIALECTS_ND_NDOPS_H
#define DYN_DIALECTS_ND_NDOPS_H

#include "dialects/interfaces/Interfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Nd/NdDialect.h.inc"
#include "dialects/Nd/NdEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Nd/NdAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/Nd/NdOps.h.inc"

namespace dyn::nd {

/// The static tensor type of an nd value.
inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) { return typeOf(value).getShape(); }

/// A constant of `type` with every element `number` (rounded to the element type). It has no encoding: the number
/// is the same on every hidden axis; ops give their results the encodings of their other operands.
mlir::Value splat(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type, double number);
/// A constant of the shape and element type of `value`.
inline mlir::Value splatLike(mlir::OpBuilder &builder, mlir::Value value, double number) {
  return splat(builder, value.getLoc(), typeOf(value), number);
}
/// The numbers lo, lo+1, …, hi-1.
llvm::SmallVector<int64_t> range(int64_t lo, int64_t hi);
/// x with size-1 dimensions added at the front or a scalar spread, as a broadcast of `shape`; x itself if it fits.
mlir::Value broadcastTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x, llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> dims);

} // namespace dyn::nd

#endif // DYN_DIALECTS_ND_NDOPS_H
