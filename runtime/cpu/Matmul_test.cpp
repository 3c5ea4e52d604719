#include "runtime/cpu/Matmul.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace dyn;
using namespace dyn::cpu;

namespace {

std::vector<const KernelSet *> runnableKernels() {
  std::vector<const KernelSet *> sets = {&baselineKernels};
#if defined(__x86_64__)
  if (&chooseKernels() != &baselineKernels)
    sets.push_back(&avx2Kernels);
  if (&chooseKernels() == &avx512Kernels)
    sets.push_back(&avx512Kernels);
#endif
  return sets;
}

template <typename T> std::vector<T> values(int64_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<T> uniform(-1, 1);
  std::vector<T> out(static_cast<size_t>(count));
  for (T &x : out)
    x = uniform(generator);
  return out;
}

/// Sums in long double: the judge.
template <typename T>
std::vector<T> plainProduct(const plan::Product &s, const std::vector<T> &a, const std::vector<T> &b,
                            std::vector<T> c) {
  for (int64_t x = 0; x < s.batch; ++x)
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j) {
        T &out = c[size_t((x * s.m + i) * s.n + j)];
        long double sum = 0;
        for (int64_t l = 0; l < s.k; ++l)
          sum += (long double)(a[size_t(x * s.m * s.k + (s.transposeA ? l * s.m + i : i * s.k + l))]) *
                 b[size_t(x * s.k * s.n + (s.transposeB ? j * s.k + l : l * s.n + j))];
        out = T(sum);
      }
  return c;
}

/// Counts how often each row was reported final.
struct RowCount {
  std::vector<std::atomic<int>> rows;
  explicit RowCount(int64_t count) : rows(size_t(count)) {}
  static void add(void *closure, int64_t lo, int64_t hi) {
    for (int64_t i = lo; i < hi; ++i)
      ++static_cast<RowCount *>(closure)->rows[size_t(i)];
  }
};

template <typename T> void check(plan::Product s) {
  s.element = sizeof(T) == 4 ? plan::Element::f32 : plan::Element::f64;
  SCOPED_TRACE(testing::Message() << "f" << sizeof(T) * 8 << " batch " << s.batch << " m " << s.m << " n " << s.n
                                  << " k " << s.k << " tA " << s.transposeA << " tB " << s.transposeB);
  std::vector<T> a = values<T>(s.batch * s.m * s.k, 1), b = values<T>(s.batch * s.k * s.n, 2);
  std::vector<T> c = values<T>(s.batch * s.m * s.n, 3), truth = plainProduct(s, a, b, c);
  for (const KernelSet *kernels : runnableKernels()) {
    std::vector<T> first;
    for (int threads : {1, 2, 3}) {
      ThreadPool pool(threads);
      Expected<Products> products = Products::create({s}, pool, *kernels);
      ASSERT_TRUE(products);
      std::vector<T> out = c;
      RowCount count(s.batch * s.m);
      products->run(0, a.data(), b.data(), out.data(), RowCount::add, &count);
      // k roundings of sums of about sqrt(k/9): a generous bound on any order of additions.
      double bound = 4 * std::sqrt(double(s.k) + 1) * std::numeric_limits<T>::epsilon() * std::sqrt(double(s.k) + 1);
      for (size_t i = 0; i < out.size(); ++i)
        ASSERT_NEAR(out[i], truth[i], bound) << kernels->name << " at " << i;
      for (auto &seen : count.rows)
        ASSERT_EQ(seen, 1);
      if (first.empty())
        first = out;
      ASSERT_TRUE(out.empty() || std::memcmp(out.data(), first.data(), out.size() * sizeof(T)) == 0) << threads;
    }
  }
}

plan::Product product(int64_t batch, int64_t m, int64_t n, int64_t k, int flags) {
  plan::Product s;
  s.batch = batch, s.m = m, s.n = n, s.k = k;
  s.transposeA = flags & 1, s.transposeB = flags & 2;
  return s;
}

TEST(Matmul, agreesWithPlainSumsAtEveryKindOfEdge) {
  for (int flags = 0; flags < 4; ++flags)
    for (int64_t m : {1, 5, 13, 32})
      for (int64_t n : {1, 3, 8, 10, 16, 33})
        for (int64_t k : {1, 7, 32}) {
          check<float>(product(1, m, n, k, flags));
          check<double>(product(1, m, n, k, flags));
          if (HasFatalFailure())
            return;
        }
}

TEST(Matmul, agreesOnSizesThatArePackedAndSplit) {
  for (int flags = 0; flags < 4; ++flags) {
    check<float>(product(1, 130, 75, 300, flags));
    check<float>(product(1, 100, 150, 300, flags));
    check<double>(product(1, 101, 140, 270, flags));
    if (HasFatalFailure())
      return;
  }
}

TEST(Matmul, agreesOverABatch) {
  for (int flags = 0; flags < 4; ++flags) {
    check<float>(product(9, 12, 20, 16, flags));
    check<double>(product(40, 16, 24, 30, flags));
    check<float>(product(2, 70, 66, 80, flags));
    if (HasFatalFailure())
      return;
  }
}

TEST(Matmul, emptySizes) {
  check<float>(product(1, 4, 4, 0, 0));
  check<double>(product(1, 4, 4, 0, 0));
  check<float>(product(0, 4, 4, 4, 0));
  check<double>(product(1, 0, 4, 4, 0));
  check<float>(product(1, 4, 0, 4, 0));
  check<double>(product(3, 4, 0, 4, 0));
}

//===--- Windows ---===//

/// One pass over what is multiplied, straight from the definition: the judge.
template <typename T>
std::vector<T> plainWindow(const plan::Product &s, const plan::Window &w, const std::vector<T> &a, const std::vector<T> &b,
                           size_t count) {
  std::vector<long double> sums(count);
  const plan::WindowAxis &rows = w.axes[0], &columns = w.axes[1];
  for (int64_t image = 0; image < s.batch; ++image)
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t k = 0; k < s.k; ++k)
        for (int64_t p = 0; p < s.n; ++p) {
          int64_t y = p / columns.places * rows.stride + k / columns.size % rows.size * rows.dilation - rows.low;
          int64_t x = p % columns.places * columns.stride + k % columns.size * columns.dilation - columns.low;
          if (y < 0 || y >= rows.extent || x < 0 || x >= columns.extent)
            continue;
          int64_t group = image % w.groups, channel = image * w.channels + k / (rows.size * columns.size);
          size_t filter = size_t((group * s.m + i) * s.k + k), place = size_t((image * s.m + i) * s.n + p);
          size_t pixel = size_t((channel * rows.extent + y) * columns.extent + x);
          size_t sum = size_t((group * s.k + k) * s.m + i);
          if (w.role == plan::WindowRole::reads)
            sums[place] += (long double)(a[filter]) * b[pixel];
          else if (w.role == plan::WindowRole::sums)
            sums[sum] += (long double)(a[place]) * b[pixel];
          else
            sums[pixel] += (long double)(a[filter]) * b[place];
        }
  return std::vector<T>(sums.begin(), sums.end());
}

template <typename T> void checkWindow(plan::Window w, int64_t images, int64_t filters) {
  for (plan::WindowRole role : {plan::WindowRole::reads, plan::WindowRole::sums, plan::WindowRole::spreads}) {
    w.role = role;
    plan::Product s;
    s.element = sizeof(T) == 4 ? plan::Element::f32 : plan::Element::f64;
    s.batch = images * w.groups, s.m = filters, s.n = w.places(), s.k = w.elements();
    auto numbers = w.numbers();
    s.window.assign(numbers.begin(), numbers.end());
    SCOPED_TRACE(testing::Message() << "role " << int(role) << " f" << sizeof(T) * 8 << " m " << s.m << " n " << s.n
                                    << " k " << s.k);
    int64_t weights = w.groups * s.m * s.k, places = s.batch * s.m * s.n, pixels = s.batch * w.image();
    bool sums = role == plan::WindowRole::sums, spreads = role == plan::WindowRole::spreads;
    std::vector<T> a = values<T>(sums ? places : weights, 1), b = values<T>(spreads ? places : pixels, 2);
    size_t count = size_t(sums ? weights : spreads ? pixels : places);
    std::vector<T> truth = plainWindow(s, w, a, b, count);
    double terms = double(sums ? images * s.n : spreads ? s.m * s.k : s.k) + 1;
    for (const KernelSet *kernels : runnableKernels()) {
      std::vector<T> first;
      for (int threads : {1, 2, 3}) {
        ThreadPool pool(threads);
        Expected<Products> products = Products::create({s}, pool, *kernels);
        ASSERT_TRUE(products);
        std::vector<T> out = values<T>(int64_t(count), 3);
        RowCount rows(s.batch * s.m);
        products->run(0, a.data(), b.data(), out.data(), role == plan::WindowRole::reads ? RowCount::add : nullptr, &rows);
        for (size_t i = 0; i < out.size(); ++i)
          ASSERT_NEAR(out[i], truth[i], 4 * terms * std::numeric_limits<T>::epsilon()) << kernels->name << " at " << i;
        if (role == plan::WindowRole::reads)
          for (auto &seen : rows.rows)
            ASSERT_EQ(seen, 1);
        if (first.empty())
          first = out;
        ASSERT_TRUE(std::memcmp(out.data(), first.data(), out.size() * sizeof(T)) == 0) << threads;
      }
    }
  }
}

plan::WindowAxis axis(int64_t extent, int64_t size, int64_t stride, int64_t dilation, int64_t low, int64_t high) {
  plan::WindowAxis axis;
  axis.extent = extent, axis.padded = extent + low + high;
  axis.size = size, axis.stride = stride, axis.dilation = dilation, axis.low = low;
  axis.places = (axis.padded - dilation * (size - 1) - 1) / stride + 1;
  return axis;
}

TEST(Matmul, windowsAgreeWithTheDefinition) {
  for (plan::WindowAxis rows : {axis(9, 3, 1, 1, 1, 1), axis(7, 3, 2, 2, 3, 0), axis(1, 1, 1, 1, 0, 0)})
    for (plan::WindowAxis columns : {axis(14, 3, 1, 1, 1, 1), axis(11, 4, 3, 1, 0, 2), axis(5, 2, 1, 3, 1, 0)})
      for (int64_t groups : {1, 2}) {
        plan::Window w;
        w.groups = groups, w.channels = 3, w.axes[0] = rows, w.axes[1] = columns;
        checkWindow<float>(w, 3, 5);
        checkWindow<double>(w, 2, 17);
        if (HasFatalFailure())
          return;
      }
}

TEST(Matmul, windowsThatAreUnfoldedInBlocks) {
  plan::Window w;
  w.channels = 40, w.axes[0] = axis(20, 3, 1, 1, 1, 1), w.axes[1] = axis(20, 3, 1, 1, 1, 1);
  checkWindow<float>(w, 2, 33);
}

TEST(Matmul, wholeNumbersAreRefused) {
  ThreadPool pool(1);
  plan::Product s = product(1, 2, 2, 2, 0);
  s.element = plan::Element::i64;
  EXPECT_FALSE(Products::create({s}, pool));
}

} // namespace
