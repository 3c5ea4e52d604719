// Matmul_bench.cpp - our products beside oneDNN's, one thread, GFLOP/s; medians of many short repeats.
#include "runtime/cpu/Matmul.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dnnl.h>
#include <vector>

using namespace dyn;

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds a call: the median of rounds of about a millisecond.
template <typename F> double measure(F call) {
  call();
  double start = now();
  call();
  int repeats = std::max(1, int(1e-3 / std::max(now() - start, 1e-8)));
  std::vector<double> rounds;
  for (int round = 0; round < 31; ++round) {
    start = now();
    for (int i = 0; i < repeats; ++i)
      call();
    rounds.push_back((now() - start) / repeats);
  }
  std::nth_element(rounds.begin(), rounds.begin() + 15, rounds.end());
  return rounds[15];
}

template <typename T> void row(int64_t m, int64_t n, int64_t k, bool transposeA, bool transposeB) {
  bool f32 = sizeof(T) == 4;
  plan::Product shape;
  shape.element = f32 ? plan::Element::f32 : plan::Element::f64;
  shape.m = m, shape.n = n, shape.k = k, shape.transposeA = transposeA, shape.transposeB = transposeB;
  ThreadPool pool(1);
  Expected<cpu::Products> products = cpu::Products::create({shape}, pool);
  if (!products)
    return;
  std::vector<T> a(size_t(m * k), T(0.5)), b(size_t(k * n), T(0.25)), c(size_t(m * n));
  double ours = measure([&] { products->run(0, a.data(), b.data(), c.data(), nullptr, nullptr); });
  double flops = 2.0 * double(m) * double(n) * double(k);
  std::printf("%s %4ld x %4ld x %4ld %c%c %9.2f us %7.1f GFLOP/s", f32 ? "f32" : "f64", long(m), long(n), long(k),
              transposeA ? 'T' : 'N', transposeB ? 'T' : 'N', ours * 1e6, flops / ours * 1e-9);
  if constexpr (sizeof(T) == 4) {
    double theirs = measure([&] {
      dnnl_sgemm(transposeA ? 'T' : 'N', transposeB ? 'T' : 'N', m, n, k, 1.0f, a.data(), transposeA ? m : k, b.data(),
                 transposeB ? k : n, 0.0f, c.data(), n);
    });
    std::printf("   oneDNN %9.2f us %7.1f", theirs * 1e6, flops / theirs * 1e-9);
  }
  std::printf("\n");
}

} // namespace

int main() {
  setenv("OMP_NUM_THREADS", "1", 1); // read by libgomp at load: run with it set to be sure
  std::printf("kernels: %s; sizes m x n x k\n", cpu::chooseKernels().name);
  struct Shape {
    int64_t m, n, k;
    bool transposeA, transposeB;
  };
  for (Shape s : {Shape{32, 32, 64, false, false}, {32, 64, 32, false, false}, {32, 10, 32, false, false},
                  {32, 64, 32, false, true}, {32, 32, 10, false, true}, {32, 32, 64, false, true},
                  {64, 32, 32, true, false}, {32, 10, 32, true, false}, {64, 64, 64, false, false},
                  {128, 128, 128, false, false}, {128, 128, 128, true, false}, {128, 128, 128, false, true},
                  {256, 256, 256, false, false}, {512, 512, 512, false, false}, {512, 512, 512, true, false},
                  {512, 512, 512, false, true}, {1024, 1024, 1024, false, false}, {64, 4096, 1024, false, false}}) {
    row<float>(s.m, s.n, s.k, s.transposeA, s.transposeB);
    row<double>(s.m, s.n, s.k, s.transposeA, s.transposeB);
  }
  return 0;
}
