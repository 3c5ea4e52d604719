//===- NdExpression.h - nd ops written as formulas ------------------------===//
//
// So that a derivative or a rewrite reads like its equation: `g * (1 - r * r)`
// builds the ops at the builder's insertion point.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_DIALECTS_ND_NDEXPRESSION_H
#define DYN_DIALECTS_ND_NDEXPRESSION_H

#include "dialects/Nd/NdOps.h"

namespace dyn::nd {

/// A value and where to build on it.
struct Ex {
  mlir::OpBuilder *builder;
  mlir::Location loc;
  mlir::Value value;

  operator mlir::Value() const { return value; }
  Ex with(mlir::Value other) const { return {builder, loc, other}; }
  /// The number, as an array of this one's shape.
  Ex like(double number) const { return with(splat(*builder, loc, typeOf(value), number)); }
};

#define DYN_EX_BINARY(SYMBOL, OP)                                                                                      \
  inline Ex operator SYMBOL(Ex a, Ex b) { return a.with(OP::create(*a.builder, a.loc, a.value, b.value)); }            \
  inline Ex operator SYMBOL(Ex a, double b) { return a SYMBOL a.like(b); }                                             \
  inline Ex operator SYMBOL(double a, Ex b) { return b.like(a) SYMBOL b; }
DYN_EX_BINARY(+, AddOp)
DYN_EX_BINARY(-, SubOp)
DYN_EX_BINARY(*, MulOp)
DYN_EX_BINARY(/, DivOp)
#undef DYN_EX_BINARY

inline Ex operator-(Ex a) { return a.with(NegOp::create(*a.builder, a.loc, a.value)); }
#define DYN_EX_UNARY(NAME, OP)                                                                                         \
  inline Ex NAME(Ex a) { return a.with(OP::create(*a.builder, a.loc, a.value)); }
DYN_EX_UNARY(sign, SignOp)
DYN_EX_UNARY(exp, ExpOp)
DYN_EX_UNARY(log, LogOp)
DYN_EX_UNARY(sin, SinOp)
DYN_EX_UNARY(cos, CosOp)
DYN_EX_UNARY(stop, StopGradientOp)
DYN_EX_UNARY(logicalNot, NotOp)
#undef DYN_EX_UNARY

inline Ex pow(Ex a, Ex b) { return a.with(PowOp::create(*a.builder, a.loc, a.value, b.value)); }
inline Ex floordiv(Ex a, Ex b) { return a.with(FloordivOp::create(*a.builder, a.loc, a.value, b.value)); }
inline Ex logicalAnd(Ex a, Ex b) { return a.with(AndOp::create(*a.builder, a.loc, a.value, b.value)); }
inline Ex logicalOr(Ex a, Ex b) { return a.with(OrOp::create(*a.builder, a.loc, a.value, b.value)); }
inline Ex compare(CompareKind kind, Ex a, Ex b) {
  return a.with(CompareOp::create(*a.builder, a.loc, kind, a.value, b.value));
}
inline Ex compare(CompareKind kind, Ex a, double b) { return compare(kind, a, a.like(b)); }
inline Ex select(Ex c, Ex a, Ex b) { return a.with(SelectOp::create(*a.builder, a.loc, c.value, a.value, b.value)); }
inline Ex select(Ex c, double a, Ex b) { return select(c, b.like(a), b); }
inline Ex select(Ex c, Ex a, double b) { return select(c, a, a.like(b)); }

} // namespace dyn::nd

#endif // DYN_DIALECTS_ND_NDEXPRESSION_H
