//===- Special.cpp - special functions as formulas ------------------------===//
//
// Composed of the elementwise ops of nd, so they fuse, run over vectors and
// have derivatives of every order without rows of their own. Each formula says
// where it comes from and how far it holds; what it gives at poles and at the
// ends of its range is part of the language (docs/language.md).
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/BuiltinTable.h"

#include <numbers>

namespace dyn::elab {

using ast::BinaryOp;

/// Values with operators, so that a formula reads like its source.
class BuiltinTable::Special {
public:
  Special(Elaborator &e, Span span) : e(e), span(span) {}

  Value lgamma(const Value &x);
  Value digamma(const Value &x);
  Value logaddexp(const Value &a, const Value &b);
  Value tan(const Value &x) { return over(apply("sin", x), apply("cos", x)); }
  Value atan(const Value &x);
  Value atan2(const Value &y, const Value &x);
  Value asin(const Value &x);
  Value acos(const Value &x) { return minus(real(std::numbers::pi / 2), asin(x)); }
  Value erfinv(const Value &p);

private:
  Value real(double number) { return Value(Const{number, Elem::Real, false, ""}, span); }
  Value plus(const Value &a, const Value &b) { return e.binary(BinaryOp::Add, a, b, span); }
  Value minus(const Value &a, const Value &b) { return e.binary(BinaryOp::Sub, a, b, span); }
  Value times(const Value &a, const Value &b) { return e.binary(BinaryOp::Mul, a, b, span); }
  Value over(const Value &a, const Value &b) { return e.binary(BinaryOp::Div, a, b, span); }
  Value apply(const char *name, const Value &x) { return e.unaryMath(name, x, span); }
  Value is(const char *relation, const Value &a, const Value &b) { return e.elementwise(relation, a, b, span); }
  Value pick(const Value &c, const Value &a, const Value &b) { return e.select(c, a, b, span); }
  Value plus(const Value &a, double b) { return plus(a, real(b)); }
  Value times(double a, const Value &b) { return times(real(a), b); }
  /// c0 + c1 x + …
  Value polynomial(std::initializer_list<double> coefficients, const Value &x);
  /// pi times the distance from the nearest whole number: sin and tan of it are exact beside their zeros.
  Value fromWhole(const Value &x) {
    return times(std::numbers::pi, minus(x, apply("stop_gradient", apply("round", x))));
  }
  struct Shifted {
    Value z;       ///< x or x + 8, at least 8
    Value isShort; ///< which of them
    Value inverse; ///< 1/z
    Value square;  ///< 1/z^2
  };
  Shifted shifted(const Value &x);

  Elaborator &e;
  Span span;
};

Value BuiltinTable::Special::polynomial(std::initializer_list<double> coefficients, const Value &x) {
  auto at = std::rbegin(coefficients);
  Value sum = real(*at);
  while (++at != std::rend(coefficients))
    sum = plus(times(sum, x), *at);
  return sum;
}

//===----------------------------------------------------------------------===//
// The gamma function: G. Nemes and others after Stirling, DLMF 5.11.1 and 5.11.2; DLMF 5.5.3 below 1/2
//===----------------------------------------------------------------------===//

BuiltinTable::Special::Shifted BuiltinTable::Special::shifted(const Value &x) {
  Value isShort = is("lt", x, real(8));
  Value z = pick(isShort, plus(x, 8), x), inverse = over(real(1), z);
  return {z, isShort, inverse, times(inverse, inverse)};
}

/// log Gamma(x) = log Gamma(x + 8) - log(x (x + 1) … (x + 7)); the series is within 1e-15 from 8 on.
Value BuiltinTable::Special::lgamma(const Value &x) {
  Value isLow = is("lt", x, real(0.5)), y = pick(isLow, minus(real(1), x), x);
  Shifted s = shifted(y);
  Value product = y;
  for (int i = 1; i < 8; ++i)
    product = times(product, plus(y, i));
  Value series = polynomial({1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360, 1.0 / 156},
                            s.square);
  Value stirling = plus(minus(times(plus(s.z, -0.5), apply("log", s.z)), s.z), 0.9189385332046727); // log(2 pi)/2
  Value high = minus(plus(stirling, times(series, s.inverse)), apply("log", pick(s.isShort, product, real(1))));
  Value wave = apply("log", apply("abs", apply("sin", fromWhole(x))));
  return pick(isLow, minus(minus(real(1.1447298858494002), wave), high), high); // log pi
}

/// psi(x) = psi(x + 8) - 1/x - … - 1/(x + 7).
Value BuiltinTable::Special::digamma(const Value &x) {
  Value isLow = is("lt", x, real(0.5)), y = pick(isLow, minus(real(1), x), x);
  Shifted s = shifted(y);
  Value steps = over(real(1), y);
  for (int i = 1; i < 8; ++i)
    steps = plus(steps, over(real(1), plus(y, i)));
  Value series = polynomial({1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12},
                            s.square);
  Value high = minus(minus(apply("log", s.z), times(0.5, s.inverse)), times(series, s.square));
  high = minus(high, pick(s.isShort, steps, real(0)));
  Value turn = fromWhole(x);
  Value wave = times(std::numbers::pi, over(apply("cos", turn), apply("sin", turn)));
  return pick(isLow, minus(high, wave), high);
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

/// log(e^a + e^b) without overflow; of equal numbers, infinite ones too, a + log 2, each with half of the slope.
Value BuiltinTable::Special::logaddexp(const Value &a, const Value &b) {
  Value gap = apply("exp", times(-1, apply("abs", minus(a, b))));
  Value apart = plus(e.elementwise("max", a, b, span), apply("log1p", gap));
  Value same = plus(times(0.5, plus(a, b)), std::numbers::ln2);
  return pick(is("eq", a, b), same, apart);
}

/// Half the angle twice, atan x = 2 atan(x/(1 + sqrt(1 + x^2))), then the series, within 2e-17 up to 0.199.
Value BuiltinTable::Special::atan(const Value &x) {
  Value isSteep = is("gt", apply("abs", x), real(1));
  Value u = pick(isSteep, over(real(1), pick(isSteep, x, real(1))), x);
  for (int half = 0; half < 2; ++half)
    u = over(u, plus(apply("sqrt", plus(times(u, u), 1)), 1));
  Value series = polynomial({1, -1.0 / 3, 1.0 / 5, -1.0 / 7, 1.0 / 9, -1.0 / 11, 1.0 / 13, -1.0 / 15, 1.0 / 17,
                             -1.0 / 19, 1.0 / 21, -1.0 / 23},
                            times(u, u));
  Value angle = times(4, times(u, series));
  return pick(isSteep, minus(times(std::numbers::pi / 2, apply("sign", x)), angle), angle);
}

/// The angle of the point (x, y), in (-pi, pi]; of the origin 0.
Value BuiltinTable::Special::atan2(const Value &y, const Value &x) {
  Value isFlat = is("ge", apply("abs", x), apply("abs", y));
  Value isOrigin = is("eq", plus(apply("abs", x), apply("abs", y)), real(0));
  Value below = pick(isFlat, pick(isOrigin, real(1), x), y), above = pick(isFlat, y, x);
  Value angle = atan(over(above, below));
  Value side = pick(is("lt", y, real(0)), real(-std::numbers::pi), real(std::numbers::pi));
  Value flat = plus(angle, pick(is("lt", x, real(0)), side, real(0)));
  return pick(isFlat, flat, minus(times(0.5, side), angle));
}

Value BuiltinTable::Special::asin(const Value &x) {
  return atan2(x, apply("sqrt", times(minus(real(1), x), plus(x, 1))));
}

/// M. Giles, Approximating the erfinv function, GPU Computing Gems 2, 2012, in single precision; then Newton's method
/// twice. Infinite at -1 and 1, nan beyond.
Value BuiltinTable::Special::erfinv(const Value &p) {
  Value isEnd = is("eq", apply("abs", p), real(1)), q = pick(isEnd, real(0), p);
  Value w = times(-1, apply("log", times(minus(real(1), q), plus(q, 1))));
  Value isCentral = is("lt", w, real(5));
  Value central = polynomial({1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.000218580870,
                              -4.39150654e-06, -3.5233877e-06, 3.43273939e-07, 2.81022636e-08},
                             plus(w, -2.5));
  Value tail = polynomial({2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773, -0.00367342844,
                           0.00134934322, 0.000100950558, -0.000200214257},
                          plus(apply("sqrt", pick(isCentral, real(9), w)), -3));
  Value y = times(q, pick(isCentral, central, tail));
  for (int i = 0; i < 2; ++i) {
    Value slope = times(2 * std::numbers::inv_sqrtpi, apply("exp", times(-1, times(y, y))));
    y = minus(y, over(minus(apply("erf", y), q), slope));
  }
  return pick(isEnd, times(p, real(std::numeric_limits<double>::infinity())), y);
}

Value BuiltinTable::special(Elaborator &e, const std::string &name, const std::vector<Value> &values, Span span) {
  Special special(e, span);
  const Value &x = values[0];
  if (name == "lgamma") return special.lgamma(x);
  if (name == "digamma") return special.digamma(x);
  if (name == "logaddexp") return special.logaddexp(x, values[1]);
  if (name == "tan") return special.tan(x);
  if (name == "atan") return special.atan(x);
  if (name == "atan2") return special.atan2(x, values[1]);
  if (name == "asin") return special.asin(x);
  if (name == "acos") return special.acos(x);
  return special.erfinv(x);
}

} // namespace dyn::elab
