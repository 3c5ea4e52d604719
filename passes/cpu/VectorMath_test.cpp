// Accuracy of the elementary functions, as compiled, against MPFR; special values; and equal bits in vectors, tails and
// scalars. The table in VectorMath.h holds what this prints with DYN_PRINT_ULP set.
#include "dialects/Nd/NdOps.h"
#include "passes/RegisterAll.h"
#include "passes/pipeline/Pipelines.h"
#include "runtime/jit/Jit.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <mpfr.h>
#include <random>

using namespace mlir;
using namespace dyn;

namespace {

/// One function compiled for one type and one size: reads arena 0, writes arena 1.
class Compiled {
public:
  Compiled(const std::string &op, const std::string &element, size_t count) {
    DialectRegistry registry;
    registerAllDynDialects(registry);
    registerPipelineDialects(registry);
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    std::string type = "tensor<" + std::to_string(count) + "x" + element + ">";
    std::string text = "func.func @run() {\n %x = run.read arena 0 offset 0 \"x\" : " + type + "\n %y = nd." + op +
                       " %x : " + type + "\n run.write %y arena 1 offset 0 \"y\" : " + type + "\n return\n}\n";
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    plan::Plan plan;
    plan.arenas.resize(2);
    auto object = compileToObject(*module, plan, Target::cpu());
    EXPECT_TRUE(succeeded(object)) << text;
    jit = llvm::cantFail(Jit::load(*object));
    entry = llvm::cantFail(jit->lookup("run"));
  }
  void operator()(const void *x, void *y) const {
    alignas(64) static char work[1 << 16];
    void *arenas[] = {const_cast<void *>(x), y, work};
    DynContext context = {};
    context.arenas = arenas;
    entry(&context);
  }

private:
  std::unique_ptr<Jit> jit;
  DynEntry entry;
};

using Exact = int (*)(mpfr_t, const mpfr_t, mpfr_rnd_t);

int exactSigmoid(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding) {
  mpfr_neg(y, x, rounding);
  mpfr_exp(y, y, rounding);
  mpfr_add_ui(y, y, 1, rounding);
  return mpfr_ui_div(y, 1, y, rounding);
}

struct Case {
  const char *op;
  Exact exact;
  double low, high; ///< inputs are uniform here
  bool alsoSmall;   ///< and spread over all sizes near 0
  double limit64, limit32;
};

const Case cases[] = {
    {"exp", mpfr_exp, -708, 709, true, 1, 1},   {"expm1", mpfr_expm1, -30, 30, true, 1, 1.1},
    {"log", mpfr_log, 0, 4, true, 1, 1},        {"log1p", mpfr_log1p, -0.999, 8, true, 1, 1},
    {"tanh", mpfr_tanh, -20, 20, true, 1, 2.6}, {"sigmoid", exactSigmoid, -40, 40, true, 1, 2},
    {"erf", mpfr_erf, -6, 6, true, 1.1, 1},     {"sin", mpfr_sin, -1000, 1000, true, 1, 1},
    {"cos", mpfr_cos, -1000, 1000, true, 1, 1}, {"rsqrt", mpfr_rec_sqrt, 0, 100, true, 1, 1},
    {"sin", mpfr_sin, -1e9, 1e9, false, 1, 1},
};

/// Error in units of the last place of the exact result.
template <typename T> double ulps(T value, const mpfr_t exact) {
  if (std::isinf(value) || std::isnan(value)) {
    double rounded = mpfr_get_d(exact, MPFR_RNDN);
    return T(rounded) == value ? 0 : 1e9;
  }
  mpfr_t difference;
  mpfr_init2(difference, 200);
  mpfr_sub_d(difference, exact, value, MPFR_RNDN);
  double error = std::fabs(mpfr_get_d(difference, MPFR_RNDN));
  mpfr_clear(difference);
  int exponent;
  std::frexp(mpfr_get_d(exact, MPFR_RNDN), &exponent);
  int lowest = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  return error / std::ldexp(1.0, std::max(exponent - std::numeric_limits<T>::digits, lowest));
}

template <typename T> std::vector<T> inputsOf(const Case &c, size_t count) {
  std::mt19937_64 random(7);
  double low = c.low, high = c.high;
  if (sizeof(T) == 4 && std::string(c.op) == "exp")
    low = -87, high = 88.7;
  std::uniform_real_distribution<double> uniform(low, high), exponent(-60, 0);
  std::vector<T> x(count);
  for (size_t i = 0; i < count; ++i) {
    if (c.alsoSmall && i % 4 == 3)
      x[i] = T(std::exp2(exponent(random)) * (low < 0 && i % 8 == 3 ? -0.5 : 0.5));
    else
      x[i] = T(uniform(random));
  }
  return x;
}

template <typename T> double worstOf(const Case &c, const char *element) {
  // Small enough to be called directly: there is no pool here.
  constexpr size_t count = 20000, piece = 400;
  Compiled run(c.op, element, piece);
  std::vector<T> x = inputsOf<T>(c, count), y(count);
  for (size_t i = 0; i < count; i += piece)
    run(x.data() + i, y.data() + i);
  double worst = 0;
  mpfr_t in, out;
  mpfr_init2(in, 60);
  mpfr_init2(out, 200);
  for (size_t i = 0; i < count; ++i) {
    mpfr_set_d(in, x[i], MPFR_RNDN);
    c.exact(out, in, MPFR_RNDN);
    worst = std::max(worst, ulps(y[i], out));
  }
  mpfr_clear(in);
  mpfr_clear(out);
  return worst;
}

TEST(VectorMath, StaysWithinItsUlps) {
  for (const Case &c : cases) {
    double f32 = worstOf<float>(c, "f32"), f64 = worstOf<double>(c, "f64");
    if (std::getenv("DYN_PRINT_ULP"))
      std::printf("%-8s f32 %.3f  f64 %.3f\n", c.op, f32, f64);
    EXPECT_LE(f32, c.limit32) << c.op;
    EXPECT_LE(f64, c.limit64) << c.op;
  }
}

template <typename T> void checkSpecial(const char *element) {
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  constexpr T tiny = std::numeric_limits<T>::denorm_min(), least = std::numeric_limits<T>::min();
  constexpr T huge = std::numeric_limits<T>::max();
  const std::vector<T> x = {0, -T(0), inf, -inf, nan, tiny, -tiny, least, -least, huge, -huge, 1, -1, T(0.5), -2, 800};
  struct Row {
    const char *op;
    double (*exact)(double);
  };
  const Row rows[] = {
      {"exp", std::exp},
      {"expm1", std::expm1},
      {"log", std::log},
      {"log1p", std::log1p},
      {"tanh", std::tanh},
      {"erf", std::erf},
      {"sigmoid", [](double v) { return v >= 0 ? 1 / (1 + std::exp(-v)) : std::exp(v) / (1 + std::exp(v)); }},
      {"rsqrt", [](double v) { return 1 / std::sqrt(v); }},
      {"sin", std::sin},
      {"cos", std::cos}};
  for (const Row &row : rows) {
    Compiled run(row.op, element, x.size());
    std::vector<T> y(x.size());
    run(x.data(), y.data());
    for (size_t i = 0; i < x.size(); ++i) {
      T want = T(row.exact(double(x[i])));
      if (std::isnan(want))
        EXPECT_TRUE(std::isnan(y[i])) << row.op << "(" << x[i] << ") is " << y[i];
      else if (std::isinf(want) || want == 0)
        EXPECT_TRUE(y[i] == want && std::signbit(y[i]) == std::signbit(want))
            << row.op << "(" << x[i] << ") is " << y[i] << ", not " << want;
      else
        EXPECT_NEAR(y[i], want, std::max(T(std::fabs(want) * 4) * std::numeric_limits<T>::epsilon(), tiny))
            << row.op << "(" << x[i] << ")";
    }
  }
}

TEST(VectorMath, GivesSpecialValuesInDouble) { checkSpecial<double>("f64"); }
TEST(VectorMath, GivesSpecialValuesInSingle) { checkSpecial<float>("f32"); }

template <typename T> void checkBits(const char *element) {
  for (const Case &c : cases) {
    std::vector<T> x = inputsOf<T>(c, 61), all(61);
    Compiled(c.op, element, 61)(x.data(), all.data());
    // One at a time is scalar code; 61 has a masked tail for every width.
    Compiled one(c.op, element, 1);
    for (size_t i = 0; i < x.size(); ++i) {
      T y;
      one(&x[i], &y);
      EXPECT_EQ(std::memcmp(&y, &all[i], sizeof(T)), 0) << c.op << "(" << x[i] << ")";
    }
  }
}

TEST(VectorMath, HasTheSameBitsInEveryLane) {
  checkBits<double>("f64");
  checkBits<float>("f32");
}

} // namespace
