//===- VectorMath.h - elementary functions written in arith ---------------===//
//
// Every function is written once and works on a scalar or on a vector of f32
// or f64: the same operations in the same order, each rounded once (products
// that are to be fused say so with fma). A lane of a vector, a lane of a
// masked tail and a scalar therefore have the same bits.
//
// Accuracy, measured against MPFR by VectorMath_test.cpp, in ulp:
//
//   function   f32    f64    method
//   exp        0.94   1.00   Cody-Waite, degree 7 / 12
//   expm1      1.01   0.66   as exp, head and tail of e^r - 1 kept apart
//   log        0.73   0.75   s = f/(2+f), degree 4 / 7 in s^2
//   log1p      0.71   0.74   as log, with the rounding of 1 + x put back
//   tanh       2.47   0.61   quotient of e^(-2|x|) - 1; f64 with its tail
//   sigmoid    1.91   0.56   quotient of e^(-|x|); f64 with its tail
//   erf        0.87   1.02   odd polynomial; 1 - e^(-x^2) q beyond 1
//   sin, cos   0.51   0.75   three-part pi/2; libm lane by lane beyond 2^20; f32 through f64
//   pow        -      -      libm lane by lane, f32 through f64: not vectorised, its error is the library's
//   rsqrt      0.51   0.51   1 / sqrt(x) and one correction
//
//===----------------------------------------------------------------------===//
#ifndef DYN_PASSES_CPU_VECTORMATH_H
#define DYN_PASSES_CPU_VECTORMATH_H

#include "mlir/IR/Builders.h"

namespace dyn {

enum class MathFunction { exp, expm1, log, log1p, sin, cos, tanh, sigmoid, erf, rsqrt };

/// Writes `function` of x (f32 or f64, scalar or vector) at the builder's place.
mlir::Value emitMath(mlir::OpBuilder &builder, mlir::Location loc, MathFunction function, mlir::Value x);

/// x to the power y; whole and half constant exponents become products and square roots.
mlir::Value emitPow(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x, mlir::Value y);

} // namespace dyn
#endif // DYN_PASSES_CPU_VECTORMATH_H
