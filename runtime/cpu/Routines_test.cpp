// Each routine by its law: sorted and stable, factors that multiply back, solutions that solve, transforms undone. In both
// precisions, for one matrix and for several, and at sizes on both sides of LAPACK's blocks.
#include "runtime/Scratch.h"
#include "runtime/SessionInternals.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>
#include <vector>

using namespace dyn;

namespace {

template <typename T> constexpr int32_t codeOf = std::is_same_v<T, float> ? 0 : std::is_same_v<T, double> ? 1 : 2;
template <typename T> using List = std::vector<T>;

class Routines : public testing::Test {
protected:
  template <typename T> List<T> random(int64_t count) {
    List<T> values(static_cast<size_t>(count));
    for (T &value : values)
      value = T(std::normal_distribution<double>()(source));
    return values;
  }
  std::mt19937_64 source{5};
};

/// x times y, or the transpose of either; row-major, one after the other.
template <typename T>
List<T> product(const List<T> &x, const List<T> &y, int64_t m, int64_t k, int64_t n, bool tx = false, bool ty = false) {
  List<T> result(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t r = 0; r < k; ++r)
        sum += double(x[size_t(tx ? r * m + i : i * k + r)]) * double(y[size_t(ty ? j * k + r : r * n + j)]);
      result[size_t(i * n + j)] = T(sum);
    }
  return result;
}

/// Rounding grows with the size: 50 n eps.
template <typename T> void expectNear(const List<T> &x, const List<T> &y, double n) {
  ASSERT_EQ(x.size(), y.size());
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(x[i], y[i], 50 * n * double(std::numeric_limits<T>::epsilon()));
}

template <typename T> List<T> identity(int64_t n) {
  List<T> result(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i)
    result[size_t(i * n + i)] = 1;
  return result;
}

template <typename T> void scaleColumns(List<T> &x, const List<T> &by) {
  for (size_t i = 0; i < x.size(); ++i)
    x[i] *= by[i % by.size()];
}

template <typename T> struct Kinds : Routines {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Kinds, Floats);

TYPED_TEST(Kinds, SortingIsStable) {
  using T = TypeParam;
  T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  for (int64_t n : {1, 7, 63, 64, 1000}) {
    List<T> x;
    const T values[] = {3, -1, nan, 0, -T(0), inf, -inf, T(0.5)};
    for (int64_t i = 0; i < n; ++i)
      x.push_back(values[this->source() % 8]);
    List<int64_t> places(x.size()), scratch(size_t(scratch::argsort(n) / 8));
    int64_t numbers[] = {1, n, 1, 1, 0, n};
    void *arrays[] = {x.data(), places.data(), scratch.data()};
    dyn_argsort(nullptr, -1, codeOf<T>, numbers, arrays);
    for (size_t i = 0; i + 1 < places.size(); ++i) {
      T a = x[size_t(places[i])], b = x[size_t(places[i + 1])];
      bool equal = a == b || (std::isnan(a) && std::isnan(b));
      EXPECT_TRUE(equal ? places[i] < places[i + 1] : std::isnan(b) || a < b) << a << " before " << b;
    }
  }
}

TEST_F(Routines, PiecesAndColumnsAreSortedApart) {
  List<int64_t> x{5, 1, INT64_MIN, INT64_MAX, 2, -3}, places(6), scratch(64);
  int64_t pieces[] = {1, 6, 1, 3, 0, 2, 2, 6};
  void *arrays[] = {x.data(), places.data(), scratch.data()};
  dyn_argsort(nullptr, -1, 2, pieces, arrays);
  EXPECT_EQ(places, (List<int64_t>{1, 0, 2, 5, 4, 3}));
  int64_t columns[] = {1, 3, 2, 1, 0, 3};
  dyn_argsort(nullptr, -1, 2, columns, arrays);
  EXPECT_EQ(places, (List<int64_t>{1, 2, 2, 0, 0, 1}));
}

TYPED_TEST(Kinds, FactorsMultiplyBack) {
  using T = TypeParam;
  for (int64_t n : {1, 2, 5, 33, 70}) {
    int64_t m = n + 3;
    List<T> a = this->template random<T>(m * n), q(a.size()), r(size_t(n * n)), scratch(size_t(scratch::svd(m, n, 8)));
    int64_t numbers[] = {1, m, n};
    void *qr[] = {a.data(), q.data(), r.data(), scratch.data()};
    dyn_qr(nullptr, -1, codeOf<T>, numbers, qr);
    expectNear(product(q, r, m, n, n), a, double(m));
    expectNear(product(q, q, n, m, n, true), identity<T>(n), double(m));
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= i; ++j)
        EXPECT_TRUE(i == j ? r[size_t(i * n + i)] >= 0 : r[size_t(i * n + j)] == 0);
    for (bool wide : {false, true}) {
      int64_t rows = wide ? n : m, columns = wide ? m : n;
      List<T> u(size_t(rows * n)), s(size_t(n), 0), v(size_t(columns * n));
      int64_t sizes[] = {1, rows, columns};
      void *svd[] = {a.data(), u.data(), s.data(), v.data(), scratch.data()};
      dyn_svd(nullptr, -1, codeOf<T>, sizes, svd);
      EXPECT_TRUE(std::is_sorted(s.rbegin(), s.rend()) && s.back() >= 0);
      expectNear(product(u, u, n, rows, n, true), identity<T>(n), double(m));
      scaleColumns(u, s);
      expectNear(product(u, v, rows, n, columns, false, true), a, double(m));
    }
  }
}

TYPED_TEST(Kinds, SymmetricMatrices) {
  using T = TypeParam;
  for (int64_t n : {1, 2, 5, 33, 70}) {
    List<T> x = this->template random<T>(n * n), a = product(x, x, n, n, n, false, true), l(a.size()), w(size_t(n), 0),
            v(a.size()), scratch(size_t(scratch::eigh(n, 8)));
    for (int64_t i = 0; i < n; ++i)
      a[size_t(i * n + i)] += 1;
    int64_t numbers[] = {1, n};
    void *eigh[] = {a.data(), w.data(), v.data(), scratch.data()};
    dyn_eigh(nullptr, -1, codeOf<T>, numbers, eigh);
    EXPECT_TRUE(std::is_sorted(w.begin(), w.end()));
    List<T> scaled = v;
    scaleColumns(scaled, w);
    expectNear(product(scaled, v, n, n, n, false, true), a, double(n * n));
    void *cholesky[] = {a.data(), l.data()};
    dyn_cholesky(nullptr, -1, codeOf<T>, numbers, cholesky);
    expectNear(product(l, l, n, n, n, false, true), a, double(n * n));
  }
}

TYPED_TEST(Kinds, SolutionsSolve) {
  using T = TypeParam;
  constexpr int64_t count = 3, k = 2;
  for (int64_t n : {1, 4, 40}) {
    List<T> all = this->template random<T>(count * n * n), right = this->template random<T>(count * n * k), x(right.size()),
            scratch(size_t(scratch::solve(n, k, 8)));
    for (int64_t i = 0; i < count * n; ++i)
      all[size_t(i * n + i % n)] += T(2 * n);
    int64_t numbers[] = {count, n, k, 1};
    void *solve[] = {all.data(), right.data(), x.data(), scratch.data()};
    auto part = [](const List<T> &list, int64_t at, int64_t size) {
      return List<T>(list.begin() + at * size, list.begin() + (at + 1) * size);
    };
    dyn_solve(nullptr, -1, codeOf<T>, numbers, solve);
    for (int64_t b = 0; b < count; ++b)
      expectNear(product(part(all, b, n * n), part(x, b, n * k), n, n, k), part(right, b, n * k), double(n));
    dyn_triangular_solve(nullptr, -1, codeOf<T>, numbers, solve);
    for (int64_t i = 0; i < count * n; ++i)
      std::fill_n(all.begin() + i * n, i % n, T(0));
    for (int64_t b = 0; b < count; ++b)
      expectNear(product(part(all, b, n * n), part(x, b, n * k), n, n, k), part(right, b, n * k), double(n));
  }
}

TEST_F(Routines, Determinants) {
  double a[] = {0, 2, 3, 4, 1, 2, 2, 4}, sign[2], log[2], scratch[16];
  int64_t numbers[] = {2, 2};
  void *arrays[] = {a, sign, log, scratch};
  dyn_log_det(nullptr, -1, 1, numbers, arrays);
  EXPECT_EQ(sign[0], -1);
  EXPECT_NEAR(log[0], std::log(6.0), 1e-15);
  EXPECT_EQ(sign[1], 0);
  EXPECT_EQ(log[1], -std::numeric_limits<double>::infinity());
}

TYPED_TEST(Kinds, TransformsAreUndone) {
  using T = TypeParam;
  for (int64_t n : {1, 2, 8, 12, 13, 49, 360}) {
    List<T> x = this->template random<T>(2 * 2 * n), y(x.size()), z(x.size());
    List<double> scratch(size_t(scratch::fft(n) / 8));
    int64_t forward[] = {2, n, 0}, back[] = {2, n, 1};
    void *there[] = {x.data(), y.data(), scratch.data()}, *home[] = {y.data(), z.data(), scratch.data()};
    dyn_fft(nullptr, -1, codeOf<T>, forward, there);
    dyn_fft(nullptr, -1, codeOf<T>, back, home);
    for (T &value : z)
      value /= T(n);
    expectNear(z, x, 1);
  }
}

TYPED_TEST(Kinds, WhatIsNotFiniteGivesNan) {
  using T = TypeParam;
  T a[] = {1, 2, std::numeric_limits<T>::infinity(), 4}, x[4], y[4], scratch[200];
  int64_t numbers[] = {1, 2, 2, 0};
  auto check = [&](auto routine, std::initializer_list<void *> arrays) {
    std::fill_n(x, 4, T(0));
    routine(nullptr, -1, codeOf<T>, numbers, arrays.begin());
    EXPECT_TRUE(std::isnan(x[0]));
  };
  T third[4];
  check(dyn_cholesky, {a, x});
  check(dyn_qr, {a, x, y, scratch});
  check(dyn_eigh, {a, x, y, scratch});
  check(dyn_svd, {a, x, y, third, scratch});
  check(dyn_solve, {a, a, x, scratch});
  check(dyn_triangular_solve, {a, a, x});
  check(dyn_log_det, {a, x, y, scratch});
}

TEST_F(Routines, WhatHasNoResultIsAFailure) {
  DynRuntime runtime;
  DynContext &ctx = runtime.ctx;
  ctx.runtime = &runtime;
  double a[] = {1, 2, 2, 4}, b[] = {1, 1}, x[4], scratch[32];
  int64_t numbers[] = {1, 2, 1, 0};
  void *arrays[] = {a, b, x, scratch};
  dyn_solve(&ctx, 7, 1, numbers, arrays);
  EXPECT_EQ(ctx.status, DYN_NO_RESULT);
  EXPECT_EQ(ctx.status_site, 7);
  EXPECT_EQ(ctx.status_value, DYN_SINGULAR);
  EXPECT_EQ(ctx.status_bound, 1);
}

} // namespace
