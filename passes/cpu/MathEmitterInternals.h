//===- MathEmitterInternals.h - arithmetic on scalars and vectors alike ---===//
#ifndef DYN_PASSES_CPU_MATHEMITTERINTERNALS_H
#define DYN_PASSES_CPU_MATHEMITTERINTERNALS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace dyn {

class MathEmitter;

/// A value with the operators of arith. Comparisons are ordered: false on NaN.
struct Lane {
  mlir::Value value;
  MathEmitter *emitter = nullptr;
};

/// Builds arith ops over one float type and the integer type of the same width.
class MathEmitter {
public:
  MathEmitter(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type)
      : builder(builder), loc(loc), type(type), width(mlir::getElementTypeOrSelf(type).getIntOrFloatBitWidth()) {}

  bool isDouble() const { return width == 64; }
  int mantissaBits() const { return isDouble() ? 52 : 23; }

  mlir::Type likeType(mlir::Type element) const {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
      return vector.clone(element);
    return element;
  }
  mlir::Type intType() const { return likeType(builder.getIntegerType(width)); }

  Lane lane(mlir::Value value) { return {value, this}; }
  Lane constant(double x) { return lane(constantOf(type, builder.getFloatAttr(mlir::getElementTypeOrSelf(type), x))); }
  Lane integer(uint64_t x) {
    return lane(constantOf(intType(), builder.getIntegerAttr(builder.getIntegerType(width), llvm::APInt(width, x))));
  }
  /// The bits of a float as an integer, and back.
  Lane bits(Lane x) { return lane(mlir::arith::BitcastOp::create(builder, loc, intType(), x.value)); }
  Lane fromBits(Lane x) { return lane(mlir::arith::BitcastOp::create(builder, loc, type, x.value)); }

  template <typename Op> Lane make(Lane a, Lane b) { return lane(Op::create(builder, loc, a.value, b.value)); }
  template <typename Op> Lane make(Lane a) { return lane(Op::create(builder, loc, a.value)); }
  Lane compare(mlir::arith::CmpFPredicate predicate, Lane a, Lane b) {
    return lane(mlir::arith::CmpFOp::create(builder, loc, predicate, a.value, b.value));
  }
  Lane select(Lane c, Lane a, Lane b) {
    return lane(mlir::arith::SelectOp::create(builder, loc, c.value, a.value, b.value));
  }
  Lane fma(Lane a, Lane b, Lane c) { return lane(mlir::math::FmaOp::create(builder, loc, a.value, b.value, c.value)); }
  Lane abs(Lane a) { return make<mlir::math::AbsFOp>(a); }
  Lane sqrt(Lane a) { return make<mlir::math::SqrtOp>(a); }
  Lane copySign(Lane size, Lane sign) {
    return lane(mlir::math::CopySignOp::create(builder, loc, size.value, sign.value));
  }
  /// c[0] + c[1] x + c[2] x^2 + …, by Horner's rule.
  Lane polynomial(Lane x, llvm::ArrayRef<double> c) {
    Lane sum = constant(c.back());
    for (double coefficient : llvm::reverse(c.drop_back()))
      sum = fma(sum, x, constant(coefficient));
    return sum;
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type type;
  unsigned width;

private:
  mlir::Value constantOf(mlir::Type of, mlir::TypedAttr element) {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(of))
      return mlir::arith::ConstantOp::create(builder, loc,
                                             mlir::DenseElementsAttr::get(vector, mlir::Attribute(element)));
    return mlir::arith::ConstantOp::create(builder, loc, element);
  }
};

inline Lane operator+(Lane a, Lane b) { return a.emitter->make<mlir::arith::AddFOp>(a, b); }
inline Lane operator-(Lane a, Lane b) { return a.emitter->make<mlir::arith::SubFOp>(a, b); }
inline Lane operator*(Lane a, Lane b) { return a.emitter->make<mlir::arith::MulFOp>(a, b); }
inline Lane operator/(Lane a, Lane b) { return a.emitter->make<mlir::arith::DivFOp>(a, b); }
inline Lane operator-(Lane a) { return a.emitter->make<mlir::arith::NegFOp>(a); }
inline Lane operator<(Lane a, Lane b) { return a.emitter->compare(mlir::arith::CmpFPredicate::OLT, a, b); }
inline Lane operator>(Lane a, Lane b) { return a.emitter->compare(mlir::arith::CmpFPredicate::OGT, a, b); }
inline Lane operator==(Lane a, Lane b) { return a.emitter->compare(mlir::arith::CmpFPredicate::OEQ, a, b); }

} // namespace dyn
#endif // DYN_PASSES_CPU_MATHEMITTERINTERNALS_H
