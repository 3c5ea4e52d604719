//===- NdShapes.h - result shapes without building an op ------------------===//
//
// Each function gives the result type of one op, or fails after an error at
// `loc` (if there is one) that names the op and the sizes at fault.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_DIALECTS_ND_NDSHAPES_H
#define DYN_DIALECTS_ND_NDSHAPES_H

#include "dialects/Nd/NdOps.h"

namespace dyn::nd {

/// Where to report; none: fail silently.
using MaybeLoc = std::optional<mlir::Location>;
using ShapeResult = llvm::FailureOr<mlir::RankedTensorType>;

ShapeResult inferElementwise(MaybeLoc loc, llvm::StringRef op, mlir::ValueRange operands);
ShapeResult inferCompare(MaybeLoc loc, mlir::Value x, mlir::Value y);
ShapeResult inferSelect(MaybeLoc loc, mlir::Value condition, mlir::Value a, mlir::Value b);
ShapeResult inferTranspose(MaybeLoc loc, mlir::RankedTensorType x, llvm::ArrayRef<int64_t> perm);
ShapeResult inferSlice(MaybeLoc loc, mlir::RankedTensorType x, llvm::ArrayRef<int64_t> offsets,
                       llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides);
ShapeResult inferPad(MaybeLoc loc, mlir::RankedTensorType x, llvm::ArrayRef<int64_t> low,
                     llvm::ArrayRef<int64_t> high);
ShapeResult inferConcat(MaybeLoc loc, mlir::ValueRange inputs, int64_t dim);
ShapeResult inferGather(MaybeLoc loc, mlir::RankedTensorType x, mlir::RankedTensorType indices, int64_t dim);
ShapeResult inferScatter(MaybeLoc loc, mlir::RankedTensorType base, mlir::RankedTensorType indices,
                         mlir::RankedTensorType updates, ScatterMode mode, int64_t dim);
ShapeResult inferReduce(MaybeLoc loc, mlir::RankedTensorType x, ReduceKind kind, llvm::ArrayRef<int64_t> dims);
ShapeResult inferArgReduce(MaybeLoc loc, mlir::RankedTensorType x, ReduceKind kind, int64_t dim);
ShapeResult inferContract(MaybeLoc loc, mlir::RankedTensorType a, mlir::RankedTensorType b, llvm::StringRef lhs,
                          llvm::StringRef rhs, llvm::StringRef out);
ShapeResult inferSegmentReduce(MaybeLoc loc, mlir::RankedTensorType x, ReduceKind kind,
                               llvm::ArrayRef<int64_t> offsets);
ShapeResult inferSegmentSpread(MaybeLoc loc, mlir::RankedTensorType x, llvm::ArrayRef<int64_t> offsets);
ShapeResult inferCumulate(MaybeLoc loc, mlir::RankedTensorType x, ReduceKind kind, int64_t dim);

} // namespace dyn::nd

#endif // DYN_DIALECTS_ND_NDSHAPES_H
