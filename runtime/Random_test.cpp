#include "runtime/Random.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <mpfr.h>
#include <random>
#include <vector>

using namespace dyn;

namespace {

// Known answers published with Random123 (philox4x32, 10 rounds).
TEST(Random, philoxMeetsItsKnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  uint32_t f = 0xffffffff;
  EXPECT_EQ(philox({f, f, f, f}, {f, f}), (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

std::vector<double> drawF64(Distribution distribution, int64_t base, int64_t count, int64_t step = 0,
                            uint64_t site = 1, std::array<int64_t, 3> more = {}) {
  std::vector<double> out(static_cast<size_t>(count));
  int64_t counter[4] = {step, more[0], more[1], more[2]};
  draw(distribution, DrawElement::f64, streamKeys(0)[0], site, counter, base, out.data(), count);
  return out;
}

TEST(Random, aDrawMayBeCutAnywhere) {
  for (Distribution distribution : {Distribution::uniform, Distribution::normal}) {
    std::vector<double> whole = drawF64(distribution, 0, 1000);
    for (int64_t lo : {0, 1, 2, 63, 64, 65, 500})
      for (int64_t count : {1, 2, 3, 64, 129, 400}) {
        std::vector<double> piece = drawF64(distribution, lo, count);
        for (int64_t i = 0; i < count; ++i)
          ASSERT_EQ(piece[size_t(i)], whole[size_t(lo + i)]) << lo << "+" << i;
      }
  }
}

TEST(Random, everyWordOfTheNameMatters) {
  std::vector<double> plain = drawF64(Distribution::uniform, 0, 4);
  int64_t big = int64_t(1) << 40;
  EXPECT_NE(drawF64(Distribution::uniform, 0, 4, 1), plain);
  EXPECT_NE(drawF64(Distribution::uniform, 0, 4, big), plain);
  EXPECT_NE(drawF64(Distribution::uniform, 0, 4, 0, 2), plain);
  EXPECT_NE(drawF64(Distribution::uniform, 0, 4, 0, 1, {1, 0, 0}), plain);
  EXPECT_NE(drawF64(Distribution::uniform, 0, 4, 0, 1, {0, 1, 0}), plain);
  EXPECT_NE(drawF64(Distribution::uniform, 0, 4, 0, 1, {0, 0, 1}), plain);
  EXPECT_NE(drawF64(Distribution::uniform, big, 4), plain);
  EXPECT_NE(hashSite("a"), hashSite("b"));
  EXPECT_EQ(streamKeys(0), streamKeys(0));
  EXPECT_NE(streamKeys(0), streamKeys(1));
}

// Recorded: a change of any of these bits changes every seeded run.
TEST(Random, bitsAreKnown) {
  int64_t counter[4] = {3, 0, 0, 0};
  int64_t bits[2];
  draw(Distribution::bits, DrawElement::i64, streamKeys(7)[3], hashSite("noise"), counter, 0, bits, 2);
  std::vector<double> normal = drawF64(Distribution::normal, 0, 2);
  EXPECT_EQ(uint64_t(bits[0]), 0x772189f439b988f7u);
  EXPECT_EQ(normal[0], -0x1.d4306d5816cafp-4);
  EXPECT_EQ(normal[1], -0x1.335ad00c92068p+0);
}

TEST(Random, precisionsAgreeUpToRounding) {
  for (Distribution distribution : {Distribution::uniform, Distribution::normal}) {
    std::vector<double> wide = drawF64(distribution, 5, 4096);
    std::vector<float> narrow(4096);
    int64_t counter[4] = {};
    draw(distribution, DrawElement::f32, streamKeys(0)[0], 1, counter, 5, narrow.data(), 4096);
    for (size_t i = 0; i < 4096; ++i)
      ASSERT_EQ(narrow[i], float(wide[i]));
  }
}

/// Kolmogorov-Smirnov distance times sqrt n; above 1.95 once in a thousand.
double ksDistance(std::vector<double> x, double (*cdf)(double)) {
  std::sort(x.begin(), x.end());
  double worst = 0, n = double(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    double p = cdf(x[i]);
    worst = std::max({worst, std::fabs(p - double(i) / n), std::fabs(p - double(i + 1) / n)});
  }
  return worst * std::sqrt(n);
}

TEST(Random, uniformsAreUniform) {
  std::vector<double> x = drawF64(Distribution::uniform, 0, 200000);
  EXPECT_LT(ksDistance(x, [](double v) { return v; }), 1.95);
  EXPECT_GE(*std::min_element(x.begin(), x.end()), 0.0);
  EXPECT_LT(*std::max_element(x.begin(), x.end()), 1.0);
  double lag = 0; // neighbours are uncorrelated: standard error 1/12/sqrt n
  for (size_t i = 1; i < x.size(); ++i)
    lag += (x[i] - 0.5) * (x[i - 1] - 0.5);
  EXPECT_LT(std::fabs(lag / double(x.size()) * 12), 4 / std::sqrt(double(x.size())));
}

TEST(Random, normalsAreNormal) {
  std::vector<double> x = drawF64(Distribution::normal, 0, 200000);
  EXPECT_LT(ksDistance(x, [](double v) { return 0.5 * std::erfc(-v * M_SQRT1_2); }), 1.95);
  double moments[5] = {};
  for (double v : x)
    for (int k = 1; k <= 4; ++k)
      moments[k] += std::pow(v, k) / double(x.size());
  double se = 1 / std::sqrt(double(x.size()));
  EXPECT_NEAR(moments[1], 0, 4 * se);
  EXPECT_NEAR(moments[2], 1, 4 * se * std::sqrt(2));
  EXPECT_NEAR(moments[3], 0, 4 * se * std::sqrt(15));
  EXPECT_NEAR(moments[4], 3, 4 * se * std::sqrt(96));
  double pairs = 0; // the two of one block do not go together
  for (size_t i = 0; i < x.size(); i += 2)
    pairs += x[i] * x[i + 1] / double(x.size() / 2);
  EXPECT_NEAR(pairs, 0, 4 * se * M_SQRT2);
}

/// |x - truth| in units of the last place of truth.
double ulps(double x, const mpfr_t truth) {
  mpfr_t difference;
  mpfr_init2(difference, 200);
  mpfr_sub_d(difference, truth, x, MPFR_RNDN);
  double error = std::fabs(mpfr_get_d(difference, MPFR_RNDN));
  double size = std::fabs(mpfr_get_d(truth, MPFR_RNDN));
  mpfr_clear(difference);
  return error / (std::nextafter(size, HUGE_VAL) - size);
}

TEST(Random, polynomialsAreAccurate) {
  std::mt19937_64 generator(1);
  mpfr_t argument, truth, truthCosine;
  mpfr_inits2(200, argument, truth, truthCosine, nullptr);
  double worstLog = 0, worstSine = 0, worstCosine = 0;
  for (int i = 0; i < 20000; ++i) {
    double u = double(generator() >> 11) * 0x1p-53;
    // Half near 1, where log cancels; a quarter tiny.
    double x = i % 4 == 0 ? std::ldexp(1 - u / 2, -int(generator() % 53)) : i % 2 ? 1 - u * u * u / 4 : 1 - u;
    mpfr_set_d(argument, x, MPFR_RNDN);
    mpfr_log(truth, argument, MPFR_RNDN);
    if (x != 1)
      worstLog = std::max(worstLog, ulps(detail::drawLog(x), truth));
    double angle = i % 2 ? u : std::floor(u * 8) / 8 + std::ldexp(u, -int(generator() % 50) - 4);
    if (angle >= 1)
      continue;
    mpfr_const_pi(argument, MPFR_RNDN);
    mpfr_mul_d(argument, argument, 2 * angle, MPFR_RNDN);
    mpfr_sin_cos(truth, truthCosine, argument, MPFR_RNDN);
    double sine, cosine;
    detail::drawSinCos(angle, sine, cosine);
    if (angle != 0 && angle != 0.5)
      worstSine = std::max(worstSine, ulps(sine, truth));
    if (angle != 0.25 && angle != 0.75)
      worstCosine = std::max(worstCosine, ulps(cosine, truthCosine));
  }
  mpfr_clears(argument, truth, truthCosine, nullptr);
  EXPECT_LT(worstLog, 1.5);
  EXPECT_LT(worstSine, 1.0);
  EXPECT_LT(worstCosine, 1.0);
  RecordProperty("ulp", std::to_string(worstLog) + " " + std::to_string(worstSine) + " " + std::to_string(worstCosine));
  std::printf("worst ulp: log %.3f sine %.3f cosine %.3f\n", worstLog, worstSine, worstCosine);
}

TEST(Permutation, isABijectionOfEverySize) {
  for (int64_t size : {1, 2, 3, 5, 10, 63, 64, 65, 100, 1000, 1797, 4096, 4097}) {
    Permutation permutation(uint64_t(size) * 77, size);
    std::vector<bool> seen(static_cast<size_t>(size));
    std::vector<int64_t> all(static_cast<size_t>(size));
    permutation.fill(0, size, all.data());
    for (int64_t i = 0; i < size; ++i) {
      int64_t j = permutation(i);
      ASSERT_EQ(j, all[size_t(i)]);
      ASSERT_TRUE(j >= 0 && j < size && !seen[size_t(j)]);
      seen[size_t(j)] = true;
    }
  }
  Permutation huge(1, int64_t(1) << 61);
  EXPECT_LT(huge(12345), int64_t(1) << 61);
}

// All 120 orders of five occur equally often: chi squared with 119 degrees, above 180 once in five thousand.
TEST(Permutation, smallOrdersAreEquallyLikely) {
  std::vector<int> count(3125);
  constexpr int trials = 24000;
  for (uint64_t key = 0; key < trials; ++key) {
    Permutation permutation(key, 5);
    int64_t code = 0;
    for (int64_t i = 0; i < 5; ++i)
      code = code * 5 + permutation(i);
    ++count[size_t(code)];
  }
  double chi = 0;
  int orders = 0;
  for (int seen : count) {
    orders += seen > 0;
    if (seen)
      chi += (seen - trials / 120.0) * (seen - trials / 120.0) / (trials / 120.0);
  }
  EXPECT_EQ(orders, 120);
  EXPECT_LT(chi, 180);
}

// Where two neighbours go together, over keys: 32 x 32 cells of a set of 1000 rows.
TEST(Permutation, neighboursScatter) {
  constexpr int cells = 32, trials = 100000;
  std::vector<int> count(cells * cells);
  for (uint64_t key = 0; key < trials; ++key) {
    Permutation permutation(key, 1024);
    int64_t a = permutation(int64_t(key % 1000)) * cells / 1024, b = permutation(int64_t(key % 1000 + 1)) * cells / 1024;
    ++count[size_t(a * cells + b)];
  }
  double chi = 0, expected = double(trials) / (cells * cells);
  for (int seen : count)
    chi += (seen - expected) * (seen - expected) / expected;
  // 1023 degrees of freedom; the diagonal is 3 % short by nature, which adds next to nothing.
  EXPECT_LT(chi, 1023 + 4 * std::sqrt(2 * 1023.0));
}

} // namespace
