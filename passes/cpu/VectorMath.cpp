//===- VectorMath.cpp - elementary functions written in arith -------------===//
//
// Notation: n is a whole number, r a small remainder. Whole numbers are kept
// as floats plus a magic constant (1.5 * 2^mantissa), whose low bits are then
// the number itself: conversion between floats and integers of 64 bits is
// scalar code before AVX-512, and undefined on NaN.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/VectorMath.h"

#include "passes/cpu/MathEmitterInternals.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace dyn {
namespace {

// (e^r - 1 - r) / r^2 on |r| <= ln2 / 2: errors 1.6e-18 and 1.5e-9.
constexpr double expQ64[] = {0.5,
                             0.16666666666666671,
                             0.041666666666666671,
                             0.0083333333333255443,
                             0.0013888888888883327,
                             0.00019841269876864356,
                             2.4801587327007187e-05,
                             2.7557252833516911e-06,
                             2.75572718102198e-07,
                             2.5106274733573296e-08,
                             2.0915442297780116e-09};
constexpr double expQ32[] = {0.50000000142862233,   0.16666666682534356,   0.041666456809677878,
                             0.0083333100242252919, 0.0013934541928270264, 0.0001989198131397769};
// (log(1+f) - 2s) / s in powers of s^2, s = f/(2+f) (FreeBSD's msun, e_log.c and e_logf.c).
constexpr double logR64[] = {6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                             2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                             1.479819860511658591e-01};
constexpr double logR32[] = {0xaaaaaa.0p-24, 0xccce13.0p-25, 0x91e9ee.0p-25, 0xf89e26.0p-26};
// erf(x)/x in powers of x^2 on [0, 1]: errors 2e-21 and 1.2e-9; the first coefficient is split from its rounding.
constexpr double erfS64[] = {1.1283791670955126,      -0.37612638903183754,    0.11283791670955121,
                             -0.02686617064512984,    0.0052239776254232985,   -0.00085483270219348297,
                             0.00012055332902888736,  -1.4925647567519332e-05, 1.6462045441468418e-06,
                             -1.6364642158167616e-07, 1.4792401209404813e-08,  -1.216456005728345e-09,
                             8.7090451290531062e-11,  -4.2309458242953377e-12};
constexpr double erfS32[] = {1.1283791658483509,    -0.37612626666720334,  0.11283594715160218,
                             -0.026854212010626412, 0.0051890874234339739, -0.00080168642871658699,
                             7.8758750626854883e-05};
// erfc(x) e^(x^2) in powers of u = (x-2)/(x+2): on [1, 6] to 3e-21, on [1, 4] to 3e-11.
constexpr double erfC64[] = {
    0.25539567631050575,     -0.42718584741395838,    0.24165819424246635,     -0.078978581015733115,
    0.0037328924043450165,   0.0069974617392940574,   -0.00084714325201339308, -0.00098197703026027213,
    4.3555637774879728e-05,  0.00017436123530124899,  2.7524819609205997e-05,  -2.7580465027982318e-05,
    -1.3960863250756434e-05, 1.393439667993715e-06,   3.7443735332653078e-06,  1.1995052231035317e-06,
    -3.9035732044924444e-07, -5.4941441041245587e-07, -1.632065834667942e-07,  1.8927635062490269e-07};
constexpr double erfC32[] = {0.25539567631050575,     -0.42718584831165002,    0.24165819411285702,
                             -0.078978473147069184,   0.0037329080273491746,   0.0069939540250839264,
                             -0.00084765557867121685, -0.00093952690218259555, 4.9876741933444445e-05};
// sin and cos on |x| <= pi/4 (msun, k_sin.c and k_cos.c).
constexpr double sinS[] = {-1.66666666666666324348e-01, 8.33333333332248946124e-03,  -1.98412698298579493134e-04,
                           2.75573137070700676789e-06,  -2.50507602534068634195e-08, 1.58969099521155010221e-10};
constexpr double cosC[] = {4.16666666666666019037e-02,  -1.38888888888741095749e-03, 2.48015872894767294178e-05,
                           -2.75573143513906633035e-07, 2.08757232129817482790e-09,  -1.13596475577881948265e-11};

/// An unevaluated sum head + tail, |tail| <= ulp(head)/2.
struct Pair {
  Lane head, tail;
};

/// The functions over one type. Members that end in Pair keep what rounding would lose.
class Functions : public MathEmitter {
public:
  using MathEmitter::MathEmitter;

  Lane exp(Lane x);
  Lane expm1(Lane x);
  Lane log(Lane x);
  Lane log1p(Lane x);
  Lane tanh(Lane x);
  Lane sigmoid(Lane x);
  Lane erf(Lane x);
  Lane rsqrt(Lane x);
  Lane sinOrCos(Lane x, bool cosine);
  /// One call of libm for each lane; f32 through f64.
  Lane libm(StringRef name, ArrayRef<Lane> operands);

private:
  Lane c(double x) { return constant(x); }
  Lane pick(double forDouble, double forFloat) { return constant(isDouble() ? forDouble : forFloat); }
  double magic() const { return isDouble() ? 0x1.8p52 : 0x1.8p23; }
  Lane infinity() { return c(std::numeric_limits<double>::infinity()); }
  Lane atLeast(Lane a, Lane b) { return compare(arith::CmpFPredicate::OGE, a, b); }
  Lane nan() { return c(std::numeric_limits<double>::quiet_NaN()); }
  /// The low bits of a float that carries a whole number over the magic constant.
  Lane wholeBits(Lane shifted) { return make<arith::SubIOp>(bits(shifted), bits(c(magic()))); }
  /// 2^n for bits n within the exponent range.
  Lane powerOfTwo(Lane n) {
    Lane biased = make<arith::AddIOp>(n, integer(isDouble() ? 1023 : 127));
    return fromBits(make<arith::ShLIOp>(biased, integer(mantissaBits())));
  }
  Pair twoSum(Lane a, Lane b) {
    Lane sum = a + b, part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
  }

  /// x = n ln2 + r.head + r.tail; n over the magic constant.
  struct Reduced {
    Lane shifted, n;
    Pair r;
  };
  Reduced reduceLog2(Lane x);
  /// The same in one number: r.tail is lost.
  Reduced reduceLog2Once(Lane x);
  Lane tanhOnce(Lane x);
  Lane sigmoidOnce(Lane x);
  /// e^r - 1 as a pair.
  Pair expm1Small(Pair r);
  /// e^(-|x|), with its tail, for results in (0, 1].
  Pair expOfMinusAbs(Lane x);
  Lane logOf(Lane f, Lane k, Lane correction);
  /// k and f of x = 2^k (1 + f), 1 + f in [sqrt(1/2), sqrt(2)).
  std::pair<Lane, Lane> splitExponent(Lane x);
};

Functions::Reduced Functions::reduceLog2(Lane x) {
  Lane shifted = fma(x, c(M_LOG2E), c(magic()));
  Lane n = shifted - c(magic());
  // The head of ln2 has trailing zeros, so that n times it is exact.
  Lane head = fma(n, pick(-6.93147180369123816490e-01, -6.9314575195e-01), x);
  Lane low = n * pick(1.90821492927058770002e-10, 1.4286067653e-06);
  Lane r = head - low;
  return {shifted, n, {r, (head - r) - low}};
}

Functions::Reduced Functions::reduceLog2Once(Lane x) {
  Lane shifted = fma(x, c(M_LOG2E), c(magic()));
  Lane n = shifted - c(magic());
  Lane head = fma(n, pick(-6.93147180369123816490e-01, -6.9314575195e-01), x);
  return {shifted, n, {fma(n, pick(-1.90821492927058770002e-10, -1.4286067653e-06), head), c(0)}};
}

Lane Functions::exp(Lane x) {
  // Beyond these the result is 0 or infinite; comparisons are false on NaN, which passes through.
  Lane low = pick(-746, -104), high = pick(710, 89);
  Lane clamped = select(x < low, low, select(x > high, high, x));
  Reduced a = isDouble() ? reduceLog2(clamped) : reduceLog2Once(clamped);
  Lane q = polynomial(a.r.head, isDouble() ? ArrayRef<double>(expQ64) : ArrayRef<double>(expQ32));
  Lane square = a.r.head * a.r.head;
  Lane e = (isDouble() ? fma(square, q, a.r.tail) + a.r.head : fma(square, q, a.r.head)) + c(1);
  // 2^n in two factors: n reaches past the range of one exponent at both ends.
  Lane half = fma(a.n, c(0.5), c(magic()));
  Lane n1 = wholeBits(half), n2 = make<arith::SubIOp>(wholeBits(a.shifted), n1);
  return e * powerOfTwo(n1) * powerOfTwo(n2);
}

Pair Functions::expm1Small(Pair r) {
  Lane q = polynomial(r.head, isDouble() ? ArrayRef<double>(expQ64) : ArrayRef<double>(expQ32));
  Lane t = r.head * r.head * q;
  Lane head = r.head + t;
  // e^(r+tail) - 1 = (e^r - 1) + tail e^r; e^r is about 1 + head.
  return {head, ((r.head - head) + t) + fma(r.tail, head, r.tail)};
}

Lane Functions::expm1(Lane x) {
  Lane low = pick(-40, -20), high = pick(710, 89);
  Lane clamped = select(x < low, low, select(x > high, high, x));
  Reduced a = reduceLog2(clamped);
  Pair e = expm1Small(a.r);
  // 2^n e + (2^n - 1), halved on the way so that n = 1024 does not overflow.
  Lane s = powerOfTwo(make<arith::SubIOp>(wholeBits(a.shifted), integer(1)));
  Lane less = s - c(0.5), lost = s - (less + c(0.5));
  Pair sum = twoSum(less, s * e.head);
  Lane result = (sum.head + fma(s, e.tail, sum.tail + lost)) * c(2);
  // n = 0: the pair itself, so that tiny and negative zero pass through.
  Lane small = select(x == c(0), x, e.head + e.tail);
  return select(abs(x) < c(0.34), small, result);
}

std::pair<Lane, Lane> Functions::splitExponent(Lane x) {
  int mantissa = mantissaBits(), range = isDouble() ? 1024 : 128;
  Lane b = bits(x);
  Lane t = make<arith::SubIOp>(b, bits(c(M_SQRT1_2)));
  Lane mask = integer(~((uint64_t(1) << mantissa) - 1));
  Lane m = fromBits(make<arith::SubIOp>(b, make<arith::AndIOp>(t, mask)));
  Lane biased = make<arith::AddIOp>(t, integer(uint64_t(range) << mantissa));
  Lane k = make<arith::ShRUIOp>(biased, integer(mantissa));
  double base = std::ldexp(1.0, mantissa);
  return {fromBits(make<arith::OrIOp>(k, bits(c(base)))) - c(base + range), m - c(1)};
}

/// k ln2 + log(1 + f) + correction.
Lane Functions::logOf(Lane f, Lane k, Lane correction) {
  Lane half = c(0.5) * f * f;
  Lane s = f / (c(2) + f), z = s * s;
  Lane r = z * polynomial(z, isDouble() ? ArrayRef<double>(logR64) : ArrayRef<double>(logR32));
  Lane low = fma(k, pick(1.90821492927058770002e-10, 9.0580006145e-06), correction);
  Lane tail = fma(s, half + r, low) - half;
  // k ln2 (exact in its head) dominates f: add f to it last but one.
  Pair sum = twoSum(k * pick(6.93147180369123816490e-01, 6.9313812256e-01), f);
  return sum.head + (sum.tail + tail);
}

Lane Functions::log(Lane x) {
  // Denormals first become normal.
  Lane tiny = x < pick(0x1p-1022, 0x1p-126);
  int lift = isDouble() ? 54 : 25;
  Lane scaled = select(tiny, x * c(std::ldexp(1.0, lift)), x);
  auto [k, f] = splitExponent(scaled);
  Lane result = logOf(f, k - select(tiny, c(lift), c(0)), c(0));
  result = select(x == c(0), -infinity(), result);
  result = select(x == infinity(), x, result);
  return select(atLeast(x, c(0)), result, nan());
}

Lane Functions::log1p(Lane x) {
  Lane u = c(1) + x;
  auto [k, f] = splitExponent(u);
  // u = 1 + x - lost: put lost / u back. Near 0, f is x itself.
  Lane lost = select(x > c(1), c(1) - (u - x), x - (u - c(1)));
  Lane near = make<arith::AndIOp>(x > c(-0.2928), x < c(0.4141));
  Lane correction = select(near, c(0), lost / u);
  Lane result = logOf(select(near, x, f), select(near, c(0), k), correction);
  result = select(x == c(0), x, result);
  result = select(x == c(-1), -infinity(), result);
  result = select(x == infinity(), x, result);
  return select(atLeast(x, c(-1)), result, nan());
}

Pair Functions::expOfMinusAbs(Lane x) {
  Lane low = c(-746);
  Lane a = -abs(x);
  Reduced reduced = reduceLog2(select(a < low, low, a));
  Pair e = expm1Small(reduced.r);
  Pair one = {c(1) + e.head, c(0)};
  one.tail = (e.head - (one.head - c(1))) + e.tail;
  Lane half = fma(reduced.n, c(0.5), c(magic()));
  Lane n1 = wholeBits(half), n2 = make<arith::SubIOp>(wholeBits(reduced.shifted), n1);
  Lane s1 = powerOfTwo(n1), s2 = powerOfTwo(n2);
  return {one.head * s1 * s2, one.tail * s1 * s2};
}

/// For f32, where a network's activations want speed more than the last half ulp: no tails.
Lane Functions::sigmoidOnce(Lane x) {
  Lane e = exp(-abs(x));
  return select(x < c(0), e, c(1)) / (c(1) + e);
}

Lane Functions::tanhOnce(Lane x) {
  // t = e^(-2|x|) - 1 = 2^n e + (2^n - 1)
  Lane y = c(-2) * abs(x);
  Reduced a = reduceLog2Once(select(y < c(-20), c(-20), y));
  Lane q = polynomial(a.r.head, expQ32);
  Lane e = fma(a.r.head * a.r.head, q, a.r.head);
  Lane s = powerOfTwo(wholeBits(a.shifted));
  Lane t = fma(s, e, s - c(1));
  return copySign(t / (c(2) + t), x);
}

Lane Functions::sigmoid(Lane x) {
  if (!isDouble())
    return sigmoidOnce(x);
  // e = e^(-|x|): 1/(1+e) for x >= 0, e/(1+e) below.
  Pair e = expOfMinusAbs(x);
  Lane d = c(1) + e.head;
  Lane dTail = (e.head - (d - c(1))) + e.tail;
  Lane negative = x < c(0);
  Lane top = select(negative, e.head, c(1)), topTail = select(negative, e.tail, c(0));
  Lane inverse = c(1) / d;
  Lane q = top * inverse;
  Lane rest = fma(-q, d, top) + (topTail - q * dTail);
  return fma(rest, inverse, q);
}

Lane Functions::tanh(Lane x) {
  if (!isDouble())
    return tanhOnce(x);
  // t = e^(-2|x|) - 1: tanh|x| = -t / (2 + t).
  Lane a = abs(x);
  Lane bound = c(-44), y = c(-2) * a;
  Reduced reduced = reduceLog2(select(y < bound, bound, y));
  Pair e = expm1Small(reduced.r);
  Lane s = powerOfTwo(wholeBits(reduced.shifted));
  Lane less = s - c(1), lost = s - (less + c(1));
  Pair t = twoSum(less, s * e.head);
  Lane tail = fma(s, e.tail, t.tail + lost);
  Lane d = c(2) + t.head;
  Lane dTail = (t.head - (d - c(2))) + tail;
  Lane inverse = c(1) / d;
  Lane q = -t.head * inverse;
  Lane rest = fma(-q, d, -t.head) - fma(q, dTail, tail);
  return copySign(fma(rest, inverse, q), x);
}

Lane Functions::rsqrt(Lane x) {
  // y = 1/s, s = sqrt(x); what both rounded away: 1 - s y, and x - s^2, which shifts s by half of it over s.
  Lane s = sqrt(x), y = c(1) / s;
  Lane rest = fma(fma(-s, s, x) * y, c(-0.5) * y, fma(-s, y, c(1)));
  Lane better = fma(y, rest, y);
  // At 0 and infinity the quotient is exact, and the correction is not a number.
  return select(abs(rest) < c(1), better, y);
}

Lane Functions::erf(Lane x) {
  bool f64 = isDouble();
  Lane a = abs(x), z = a * a;
  Lane p = polynomial(z, ArrayRef<double>(f64 ? ArrayRef<double>(erfS64) : ArrayRef<double>(erfS32)).drop_front());
  // 2/sqrt(pi) - 1 is rounded apart from the leading x.
  double first = f64 ? erfS64[0] : erfS32[0];
  Lane small = fma(a, fma(z, p, c(first - 1)), a);
  Lane limit = pick(6, 4);
  Lane b = select(a > limit, limit, a);
  Lane u = (b - c(2)) / (b + c(2));
  Lane q = polynomial(u, f64 ? ArrayRef<double>(erfC64) : ArrayRef<double>(erfC32));
  Lane large = c(1) - exp(-(b * b)) * q;
  return copySign(select(a < c(1), small, large), x);
}

Lane Functions::sinOrCos(Lane x, bool cosine) {
  if (!isDouble()) {
    Type wide = likeType(builder.getF64Type());
    Functions inner(builder, loc, wide);
    Lane y = inner.sinOrCos(inner.lane(arith::ExtFOp::create(builder, loc, wide, x.value)), cosine);
    return lane(arith::TruncFOp::create(builder, loc, type, y.value));
  }
  Lane limit = c(0x1p20);
  Lane big = compare(arith::CmpFPredicate::UGT, abs(x), limit);
  Lane y = select(big, c(0), x);
  Lane shifted = fma(y, c(M_2_PI), c(magic()));
  Lane n = shifted - c(magic());
  // pi/2 in parts of 33 bits: products with |n| < 2^20 are exact.
  Lane head = fma(n, c(-1.57079632673412561417e+00), y);
  Lane second = n * c(6.07710050630396597660e-11);
  Lane mid = head - second, lost = (head - mid) - second;
  Lane third = fma(n, c(-2.02226624879595063154e-21), lost);
  Lane r = mid + third;
  Lane tail = (mid - r) + third;
  Lane z = r * r;
  // sin(r + tail) = r + r^3 S(z) + tail (1 - z/2)
  Lane sinR = r + fma(z * r, polynomial(z, sinS), tail * fma(z, c(-0.5), c(1)));
  // cos(r + tail) = 1 - z/2 + z^2 C(z) - r tail, with what 1 - z/2 rounds away put back
  Lane half = c(0.5) * z, w = c(1) - half;
  Lane cosR = w + (((c(1) - w) - half) + fma(z * z, polynomial(z, cosC), -(r * tail)));
  Lane quadrant = wholeBits(shifted);
  if (cosine)
    quadrant = make<arith::AddIOp>(quadrant, integer(1));
  auto isSet = [&](uint64_t bit) {
    Lane masked = make<arith::AndIOp>(quadrant, integer(bit));
    return lane(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, masked.value, integer(0).value));
  };
  Lane result = select(isSet(1), cosR, sinR);
  result = select(isSet(2), -result, result);
  if (!cosine)
    result = select(y == c(0), y, result);
  Value any = big.value;
  if (isa<VectorType>(any.getType()))
    any = vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR, any);
  auto branch = scf::IfOp::create(builder, loc, TypeRange{type}, any, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&branch.getThenRegion().front());
  scf::YieldOp::create(builder, loc, select(big, libm(cosine ? "cos" : "sin", {x}), result).value);
  builder.setInsertionPointToStart(&branch.getElseRegion().front());
  scf::YieldOp::create(builder, loc, result.value);
  return lane(branch.getResult(0));
}

Lane Functions::libm(StringRef name, ArrayRef<Lane> operands) {
  Type f64 = builder.getF64Type();
  auto module = builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (!module)
    module = cast<ModuleOp>(builder.getInsertionBlock()->getParentOp());
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    SmallVector<Type> inputs(operands.size(), f64);
    function = LLVM::LLVMFuncOp::create(builder, module.getLoc(), name, LLVM::LLVMFunctionType::get(f64, inputs));
  }
  auto callOne = [&](ArrayRef<Value> values) -> Value {
    SmallVector<Value> wide;
    for (Value v : values)
      wide.push_back(isDouble() ? v : arith::ExtFOp::create(builder, loc, f64, v).getResult());
    Value y = LLVM::CallOp::create(builder, loc, function, wide).getResult();
    return isDouble() ? y : arith::TruncFOp::create(builder, loc, getElementTypeOrSelf(type), y).getResult();
  };
  auto vectorType = dyn_cast<VectorType>(type);
  if (!vectorType)
    return lane(callOne(llvm::map_to_vector(operands, [](Lane l) { return l.value; })));
  Value result = constant(0).value;
  for (int64_t i = 0; i < vectorType.getNumElements(); ++i) {
    auto parts = llvm::map_to_vector(operands, [&](Lane l) {
      return Value(vector::ExtractOp::create(builder, loc, l.value, ArrayRef<int64_t>{i}));
    });
    result = vector::InsertOp::create(builder, loc, callOne(parts), result, ArrayRef<int64_t>{i});
  }
  return lane(result);
}

} // namespace

Value emitMath(OpBuilder &builder, Location loc, MathFunction function, Value x) {
  Functions f(builder, loc, x.getType());
  Lane a = f.lane(x);
  switch (function) {
  case MathFunction::exp:
    return f.exp(a).value;
  case MathFunction::expm1:
    return f.expm1(a).value;
  case MathFunction::log:
    return f.log(a).value;
  case MathFunction::log1p:
    return f.log1p(a).value;
  case MathFunction::sin:
    return f.sinOrCos(a, false).value;
  case MathFunction::cos:
    return f.sinOrCos(a, true).value;
  case MathFunction::tanh:
    return f.tanh(a).value;
  case MathFunction::sigmoid:
    return f.sigmoid(a).value;
  case MathFunction::erf:
    return f.erf(a).value;
  case MathFunction::rsqrt:
    return f.rsqrt(a).value;
  }
  llvm_unreachable("every function of the enumeration returns above");
}

Value emitPow(OpBuilder &builder, Location loc, Value x, Value y) {
  Functions f(builder, loc, x.getType());
  Lane a = f.lane(x);
  FloatAttr scalar;
  DenseFPElementsAttr dense;
  std::optional<double> exponent;
  if (matchPattern(y, m_Constant(&scalar)))
    exponent = scalar.getValueAsDouble();
  else if (matchPattern(y, m_Constant(&dense)) && dense.isSplat())
    exponent = dense.getSplatValue<FloatAttr>().getValueAsDouble();
  if (exponent == 1.0)
    return x;
  if (exponent == 2.0)
    return (a * a).value;
  if (exponent == -1.0)
    return (f.constant(1) / a).value;
  if (exponent == 0.5) // x + 0: the root of -0 is -0, its power is 0
    return f.sqrt(a + f.constant(0)).value;
  return f.libm("pow", {a, f.lane(y)}).value;
}

} // namespace dyn
