#include "dialects/Nd/NdEvalInternals.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

namespace {
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Arithmetic on whole numbers wraps.
int64_t wrap(uint64_t x) { return int64_t(x); }
uint64_t bits(int64_t x) { return uint64_t(x); }

int64_t floorDivide(int64_t x, int64_t y) {
  if (y == 0)
    return 0;
  if (y == -1)
    return wrap(0 - bits(x));
  int64_t quotient = x / y;
  return quotient * y != x && ((x < 0) != (y < 0)) ? quotient - 1 : quotient;
}
int64_t floorRemainder(int64_t x, int64_t y) { return y == 0 ? 0 : wrap(bits(x) - bits(y) * bits(floorDivide(x, y))); }

/// Remainder with the sign of y; exact, like fmod.
double floorRemainder(double x, double y) {
  double r = std::fmod(x, y);
  return r != 0 && ((r < 0) != (y < 0)) ? r + y : r;
}

double least(double x, double y) { return std::isnan(x) || std::isnan(y) ? nan : std::min(x, y); }
double greatest(double x, double y) { return std::isnan(x) || std::isnan(y) ? nan : std::max(x, y); }

struct Negate {
  double operator()(double x) const { return -x; }
  int64_t operator()(int64_t x) const { return wrap(0 - bits(x)); }
};
struct Magnitude {
  double operator()(double x) const { return std::fabs(x); }
  int64_t operator()(int64_t x) const { return x < 0 ? wrap(0 - bits(x)) : x; }
};

double sigmoid(double x) {
  double e = std::exp(-std::fabs(x));
  return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

template <typename T, typename Fn>
std::vector<T> map(const std::vector<T> &x, Fn fn) {
  std::vector<T> result(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    result[i] = fn(x[i]);
  return result;
}
template <typename T, typename Fn>
std::vector<T> map(const std::vector<T> &x, const std::vector<T> &y, Fn fn) {
  std::vector<T> result(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    result[i] = fn(x[i], y[i]);
  return result;
}

/// fn is callable with doubles, whole numbers, or both.
template <typename OpTy, typename Fn>
void unary(EvalTable &table, Fn fn) {
  addEval<OpTy>(table, [fn](Evaluator &, OpTy, ArrayRef<NdArray> in, NdArrays &out) {
    const NdArray &x = in[0];
    if (x.isFloat())
      out.push_back(NdArray(x.shape(), x.element(), map(x.floats(), [&](double v) -> double { return fn(v); })));
    else
      out.push_back(NdArray(x.shape(), x.element(), map(x.ints(), [&](int64_t v) -> int64_t { return fn(v); })));
    return success();
  });
}
template <typename OpTy, typename FloatFn, typename IntFn>
void binary(EvalTable &table, FloatFn onFloats, IntFn onInts) {
  addEval<OpTy>(table, [=](Evaluator &, OpTy, ArrayRef<NdArray> in, NdArrays &out) {
    const NdArray &x = in[0], &y = in[1];
    if (x.isFloat())
      out.push_back(NdArray(x.shape(), x.element(), map(x.floats(), y.floats(), onFloats)));
    else
      out.push_back(NdArray(x.shape(), x.element(), map(x.ints(), y.ints(), onInts)));
    return success();
  });
}
/// For ops on floats only.
int64_t never(int64_t, int64_t) { return 0; }

template <typename T>
bool holds(CompareKind kind, T x, T y) {
  switch (kind) {
  case CompareKind::eq:
    return x == y;
  case CompareKind::ne:
    return x != y;
  case CompareKind::lt:
    return x < y;
  case CompareKind::le:
    return x <= y;
  case CompareKind::gt:
    return x > y;
  case CompareKind::ge:
    return x >= y;
  }
  llvm_unreachable("all kinds are handled");
}

LogicalResult evalCompare(Evaluator &, CompareOp op, ArrayRef<NdArray> in, NdArrays &out) {
  const NdArray &x = in[0], &y = in[1];
  std::vector<int64_t> result(x.size());
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = x.isFloat() ? holds(op.getKind(), x.floats()[i], y.floats()[i])
                            : holds(op.getKind(), x.ints()[i], y.ints()[i]);
  out.push_back(NdArray(x.shape(), Element::i1, std::move(result)));
  return success();
}

LogicalResult evalSelect(Evaluator &, SelectOp, ArrayRef<NdArray> in, NdArrays &out) {
  const std::vector<int64_t> &condition = in[0].ints();
  auto choose = [&](const auto &a, const auto &b) {
    auto result = b;
    for (size_t i = 0; i < result.size(); ++i)
      if (condition[i])
        result[i] = a[i];
    return result;
  };
  if (in[1].isFloat())
    out.push_back(NdArray(in[1].shape(), in[1].element(), choose(in[1].floats(), in[2].floats())));
  else
    out.push_back(NdArray(in[1].shape(), in[1].element(), choose(in[1].ints(), in[2].ints())));
  return success();
}

/// floor(x / y), the quotient rounded to the element type as compiled code does.
LogicalResult evalFloordiv(Evaluator &, FloordivOp, ArrayRef<NdArray> in, NdArrays &out) {
  const NdArray &x = in[0], &y = in[1];
  auto quotient = [&](double a, double b) {
    return std::floor(x.element() == Element::f32 ? double(float(a / b)) : a / b);
  };
  if (x.isFloat())
    out.push_back(NdArray(x.shape(), x.element(), map(x.floats(), y.floats(), quotient)));
  else
    out.push_back(NdArray(x.shape(), x.element(), map(x.ints(), y.ints(), floorDivide)));
  return success();
}

/// Truncates toward 0; saturates; nan gives 0.
int64_t toWhole(double x) {
  if (std::isnan(x))
    return 0;
  if (x >= 9223372036854775808.0)
    return std::numeric_limits<int64_t>::max();
  if (x < -9223372036854775808.0)
    return std::numeric_limits<int64_t>::min();
  return int64_t(x);
}

LogicalResult evalCast(Evaluator &, CastOp op, ArrayRef<NdArray> in, NdArrays &out) {
  const NdArray &x = in[0];
  Element to = elementOf(op.getType());
  if (isFloat(to)) {
    std::vector<double> result(x.size());
    // A whole number rounds once, to f32 directly when that is wanted.
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = x.isFloat() ? x.floats()[i] : to == Element::f32 ? double(float(x.ints()[i])) : double(x.ints()[i]);
    out.push_back(NdArray(x.shape(), to, std::move(result)));
    return success();
  }
  std::vector<int64_t> result(x.size());
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = to == Element::i1 ? int64_t(x.at(i) != 0) : x.isFloat() ? toWhole(x.floats()[i]) : x.ints()[i];
  out.push_back(NdArray(x.shape(), to, std::move(result)));
  return success();
}
} // namespace

void nd::addElementwise(EvalTable &table) {
  unary<NegOp>(table, Negate());
  unary<AbsOp>(table, Magnitude());
  unary<SignOp>(table, [](auto x) { return x > 0 ? decltype(x)(1) : x < 0 ? decltype(x)(-1) : x; });
  unary<SqrtOp>(table, [](double x) { return std::sqrt(x); });
  unary<RsqrtOp>(table, [](double x) { return 1 / std::sqrt(x); });
  unary<ExpOp>(table, [](double x) { return std::exp(x); });
  unary<Expm1Op>(table, [](double x) { return std::expm1(x); });
  unary<LogOp>(table, [](double x) { return std::log(x); });
  unary<Log1pOp>(table, [](double x) { return std::log1p(x); });
  unary<SinOp>(table, [](double x) { return std::sin(x); });
  unary<CosOp>(table, [](double x) { return std::cos(x); });
  unary<TanhOp>(table, [](double x) { return std::tanh(x); });
  unary<SigmoidOp>(table, [](double x) { return sigmoid(x); });
  unary<ErfOp>(table, [](double x) { return std::erf(x); });
  unary<FloorOp>(table, [](double x) { return std::floor(x); });
  unary<CeilOp>(table, [](double x) { return std::ceil(x); });
  unary<RoundOp>(table, [](double x) { return std::nearbyint(x); });
  unary<NotOp>(table, [](auto x) { return x == 0 ? 1 : 0; });
  addEval<StopGradientOp>(table, [](Evaluator &, StopGradientOp, ArrayRef<NdArray> in, NdArrays &out) {
    out.push_back(in[0]);
    return success();
  });
  binary<AddOp>(table, [](double x, double y) { return x + y; },
                [](int64_t x, int64_t y) { return wrap(bits(x) + bits(y)); });
  binary<SubOp>(table, [](double x, double y) { return x - y; },
                [](int64_t x, int64_t y) { return wrap(bits(x) - bits(y)); });
  binary<MulOp>(table, [](double x, double y) { return x * y; },
                [](int64_t x, int64_t y) { return wrap(bits(x) * bits(y)); });
  binary<DivOp>(table, [](double x, double y) { return x / y; }, never);
  binary<PowOp>(table, [](double x, double y) { return std::pow(x, y); }, never);
  binary<MinOp>(table, least, [](int64_t x, int64_t y) { return std::min(x, y); });
  binary<MaxOp>(table, greatest, [](int64_t x, int64_t y) { return std::max(x, y); });
  binary<RemOp>(table, [](double x, double y) { return floorRemainder(x, y); },
                [](int64_t x, int64_t y) { return floorRemainder(x, y); });
  addEval<FloordivOp>(table, evalFloordiv);
  binary<AndOp>(table, [](double, double) { return 0.0; }, [](int64_t x, int64_t y) { return x & y; });
  binary<OrOp>(table, [](double, double) { return 0.0; }, [](int64_t x, int64_t y) { return x | y; });
  addEval<CompareOp>(table, evalCompare);
  addEval<SelectOp>(table, evalSelect);
  addEval<CastOp>(table, evalCast);
}
