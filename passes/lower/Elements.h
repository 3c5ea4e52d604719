//===- Elements.h - the arithmetic of one element, or of a vector of them -===//
#ifndef DYN_PASSES_LOWER_ELEMENTS_H
#define DYN_PASSES_LOWER_ELEMENTS_H

#include "dialects/Nd/NdOps.h"

#include "mlir/IR/Builders.h"

namespace dyn::lower {

/// Constants, as arith.constant at the builder's place.
mlir::Value i64Constant(mlir::OpBuilder &b, mlir::Location loc, int64_t value);
mlir::Value boolConstant(mlir::OpBuilder &b, mlir::Location loc, bool value);
/// The element type of a tensor as generated code computes with it.
mlir::Type elementOf(mlir::Value tensor);
/// `type` with `lanes` lanes; the type itself for one lane.
mlir::Type laneType(mlir::Type type, int64_t lanes);
/// A scalar in each lane; a vector as it is.
mlir::Value spread(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, int64_t lanes);

/// The result of an elementwise nd op on operands that are scalars or vectors of one length.
mlir::Value emitElement(mlir::OpBuilder &b, mlir::Operation *op, mlir::ValueRange operands);
/// The first element of a dense constant.
mlir::Value emitSplat(mlir::OpBuilder &b, nd::ConstantOp op);

/// What a reduction over nothing gives, and one step of it.
mlir::Value reduceIdentity(mlir::OpBuilder &b, mlir::Location loc, nd::ReduceKind kind, mlir::Type element);
mlir::Value reduceStep(mlir::OpBuilder &b, mlir::Location loc, nd::ReduceKind kind, mlir::Value x, mlir::Value y);
/// Lanes combined by halves.
mlir::Value reduceLanes(mlir::OpBuilder &b, mlir::Location loc, nd::ReduceKind kind, mlir::Value vector);

/// Loads and stores of elements as arenas keep them: a boolean is a byte.
mlir::Value elementPointer(mlir::OpBuilder &b, mlir::Location loc, mlir::Value base, mlir::Type element,
                           mlir::Value index);
mlir::Value loadElement(mlir::OpBuilder &b, mlir::Location loc, mlir::Value pointer, mlir::Type type,
                        mlir::Value mask = nullptr);
void storeElement(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, mlir::Value pointer,
                  mlir::Value mask = nullptr);
/// Elements 0, stride, 2 stride, … from an address on, taken out of what lies there side by side: nothing beyond the last
/// of them is read. Null where `mask` lets others through than the first few.
mlir::Value loadEvery(mlir::OpBuilder &b, mlir::Location loc, mlir::Value pointer, mlir::VectorType type, int64_t stride,
                      mlir::Value mask);
/// Elements at base[index] for a vector of indices.
mlir::Value gatherElements(mlir::OpBuilder &b, mlir::Location loc, mlir::Value base, mlir::Type element,
                           mlir::Value indices, mlir::Value mask);

} // namespace dyn::lower

#endif // DYN_PASSES_LOWER_ELEMENTS_H
