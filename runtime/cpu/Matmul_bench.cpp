// Matmul_bench.cpp - our products beside oneDNN's, one thread, GFLOP/s. Rounds of the two alternate and the fastest
// of each counts: what else the machine does then troubles neither. `matmul_bench peak` prints the limit alone.
#include "runtime/cpu/Matmul.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dnnl.h>
#include <string_view>
#include <vector>

using namespace dyn;

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The fastest of several rounds of about half a millisecond each, in seconds a call.
struct Timing {
  int repeats = 0;
  double best = 1e9;
  template <typename F> void round(F call) {
    if (repeats == 0) {
      call();
      double start = now();
      call();
      repeats = std::max(1, int(5e-4 / std::max(now() - start, 1e-8)));
    }
    double start = now();
    for (int i = 0; i < repeats; ++i)
      call();
    best = std::min(best, (now() - start) / repeats);
  }
};
constexpr int rounds = 60, roundsOfLarge = 8;

#if defined(__x86_64__)
/// GFLOP/s of f32 that ten independent chains of AVX2 fused multiply-adds reach: the limit of those kernels.
__attribute__((target("avx2,fma"))) double peak() {
  constexpr int loops = 100000;
  Timing timing;
  auto chains = [] {
    for (int i = 0; i < loops; ++i)
      asm volatile("vfmadd231ps %%ymm0, %%ymm0, %%ymm1\n vfmadd231ps %%ymm0, %%ymm0, %%ymm2\n"
                   "vfmadd231ps %%ymm0, %%ymm0, %%ymm3\n vfmadd231ps %%ymm0, %%ymm0, %%ymm4\n"
                   "vfmadd231ps %%ymm0, %%ymm0, %%ymm5\n vfmadd231ps %%ymm0, %%ymm0, %%ymm6\n"
                   "vfmadd231ps %%ymm0, %%ymm0, %%ymm7\n vfmadd231ps %%ymm0, %%ymm0, %%ymm8\n"
                   "vfmadd231ps %%ymm0, %%ymm0, %%ymm9\n vfmadd231ps %%ymm0, %%ymm0, %%ymm10\n" ::
                       : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10");
  };
  for (int i = 0; i < rounds; ++i)
    timing.round(chains);
  return 10.0 * 16 * loops / timing.best * 1e-9;
}
#else
double peak() { return 0; }
#endif

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
  Timing ours, theirs;
  for (int i = 0; i < (ours.best > 5e-3 && i > 0 ? roundsOfLarge : rounds); ++i) {
    ours.round([&] { products->run(0, a.data(), b.data(), c.data(), nullptr, nullptr); });
    if constexpr (sizeof(T) == 4)
      theirs.round([&] {
        dnnl_sgemm(transposeA ? 'T' : 'N', transposeB ? 'T' : 'N', m, n, k, 1.0f, a.data(), transposeA ? m : k,
                   b.data(), transposeB ? k : n, 0.0f, c.data(), n);
      });
  }
  double flops = 2.0 * double(m) * double(n) * double(k);
  std::printf("%s %4ld x %4ld x %4ld %c%c %9.2f us %7.1f GFLOP/s", f32 ? "f32" : "f64", long(m), long(n), long(k),
              transposeA ? 'T' : 'N', transposeB ? 'T' : 'N', ours.best * 1e6, flops / ours.best * 1e-9);
  if (sizeof(T) == 4)
    std::printf("   oneDNN %9.2f us %7.1f", theirs.best * 1e6, flops / theirs.best * 1e-9);
  std::printf("\n");
}

} // namespace

int main(int argc, char **argv) {
  if (argc > 1 && std::string_view(argv[1]) == "peak") {
    std::printf("%.1f GFLOP/s of f32\n", peak());
    return 0;
  }
  setenv("OMP_NUM_THREADS", "1", 1); // read by libgomp at load: run with it set to be sure
  std::printf("kernels: %s; sizes m x n x k; AVX2 peak f32 %.0f, f64 %.0f GFLOP/s\n",
              cpu::chooseKernels().name, peak(), peak() / 2);
  struct Shape {
    int64_t m, n, k;
    bool transposeA, transposeB;
  };
  for (Shape s : {Shape{32, 32, 64, false, false}, {32, 64, 32, false, false}, {32, 10, 32, false, false},
                  {32, 64, 32, false, true}, {32, 32, 10, false, true}, {32, 32, 64, false, true},
                  {64, 32, 32, true, false}, {32, 10, 32, true, false}, {64, 64, 64, false, false},
                  {128, 128, 128, false, false}, {128, 128, 128, true, false}, {128, 128, 128, false, true},
                  {256, 256, 256, false, false}, {512, 512, 512, false, false}, {512, 512, 512, true, false},
                  {512, 512, 512, false, true}, {1024, 1024, 1024, false, false}, {64, 4096, 1024, false, false},
                  {64, 128, 784, false, false}, {784, 128, 64, true, false}, {256, 4096, 1024, false, false},
                  {256, 4096, 4096, false, true}, {4096, 4096, 256, true, false}}) {
    row<float>(s.m, s.n, s.k, s.transposeA, s.transposeB);
    row<double>(s.m, s.n, s.k, s.transposeA, s.transposeB);
  }
  return 0;
}
