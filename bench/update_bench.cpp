//===- update_bench.cpp - clip + AdamW at the memory's speed --------------===//
//
// The update of a train alone, on gradients that are given: one pass over the
// gradients for the norm, one that reads p, g, m, v and writes p, m, v. Counted
// as 8 floats a parameter and compared in the same rounds with a STREAM triad
// (3 floats an element) and with the same two passes written by hand.
//
//   update_bench PARAMETERS LEAVES THREADS ROUNDS
//
// One JSON object a line: bench, impl, params, metric, value, unit.
//
//===----------------------------------------------------------------------===//
#include "bench/CompiledUpdate.h"
#include "bench/Pieces.h"

#include <cmath>
#include <cstdio>
#include <immintrin.h>

using namespace dyn::bench;

namespace {

__attribute__((target("avx2,fma"))) float squares(const float *g, size_t lo, size_t hi) {
  __m256 sums[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
  size_t i = lo;
  for (; i + 32 <= hi; i += 32)
    for (int k = 0; k < 4; ++k) {
      __m256 x = _mm256_load_ps(g + i + 8 * k);
      sums[k] = _mm256_fmadd_ps(x, x, sums[k]);
    }
  float lanes[8], total = 0;
  for (auto &sum : sums) {
    _mm256_storeu_ps(lanes, sum);
    for (float lane : lanes)
      total += lane;
  }
  for (; i < hi; ++i)
    total += g[i] * g[i];
  return total;
}

struct Rates {
  float scale, beta1, beta2, correct1, correct2, eps, decay, lr;
};

__attribute__((target("avx2,fma"))) void update(float *p, const float *g, float *m, float *v, const Rates &r, size_t lo,
                                                size_t hi) {
  __m256 scale = _mm256_set1_ps(r.scale), b1 = _mm256_set1_ps(r.beta1), c1 = _mm256_set1_ps(1 - r.beta1),
         b2 = _mm256_set1_ps(r.beta2), c2 = _mm256_set1_ps(1 - r.beta2), k1 = _mm256_set1_ps(1 / r.correct1),
         k2 = _mm256_set1_ps(1 / r.correct2), eps = _mm256_set1_ps(r.eps), wd = _mm256_set1_ps(r.decay),
         lr = _mm256_set1_ps(r.lr);
  for (size_t i = lo; i + 8 <= hi; i += 8) {
    __m256 x = _mm256_mul_ps(scale, _mm256_load_ps(g + i));
    __m256 mi = _mm256_fmadd_ps(b1, _mm256_load_ps(m + i), _mm256_mul_ps(c1, x));
    __m256 vi = _mm256_fmadd_ps(b2, _mm256_load_ps(v + i), _mm256_mul_ps(c2, _mm256_mul_ps(x, x)));
    __m256 pi = _mm256_load_ps(p + i);
    __m256 root = _mm256_add_ps(_mm256_sqrt_ps(_mm256_mul_ps(vi, k2)), eps);
    __m256 step = _mm256_fmadd_ps(wd, pi, _mm256_div_ps(_mm256_mul_ps(mi, k1), root));
    _mm256_store_ps(m + i, mi);
    _mm256_store_ps(v + i, vi);
    _mm256_store_ps(p + i, _mm256_fnmadd_ps(lr, step, pi));
  }
}

/// The same update by hand; gives the norm of the gradient.
void byHand(float *p, const float *g, float *m, float *v, size_t count, int64_t t, int threads) {
  std::vector<float> partial(static_cast<size_t>(threads) * 16);
  size_t each = (count / threads + 63) & ~size_t(63);
  pieces(threads, count, [&](size_t lo, size_t hi) { partial[lo / std::max<size_t>(each, 1) * 16] = squares(g, lo, hi); });
  float sum = 0;
  for (size_t i = 0; i < partial.size(); i += 16)
    sum += partial[i];
  float norm = std::sqrt(sum);
  Rates rates{norm <= 1 ? 1 : 1 / norm, 0.9f, 0.999f, float(1 - std::pow(0.9, double(t))), float(1 - std::pow(0.999, double(t))), 1e-8f, 0.01f, 1e-3f};
  pieces(threads, count, [&](size_t lo, size_t hi) { update(p, g, m, v, rates, lo, hi); });
}

void print(const char *impl, const std::string &params, const char *metric, double value, const char *unit) {
  std::printf("{\"bench\": \"update\", \"impl\": \"%s\", \"params\": {%s}, \"metric\": \"%s\", \"value\": %.4g, \"unit\": \"%s\"}\n",
              impl, params.c_str(), metric, value, unit);
}

} // namespace

int main(int argc, char **argv) {
  int64_t count = argc > 1 ? std::atoll(argv[1]) : 25'000'000, leaves = argc > 2 ? std::atoll(argv[2]) : 1;
  int threads = argc > 3 ? std::atoi(argv[3]) : 1, rounds = argc > 4 ? std::atoi(argv[4]) : 9;
  auto compiled = CompiledUpdate::make(equalLeaves(count, leaves), "  clip by_global_norm(1.0)\n  optimizer adamw()", threads);
  if (!compiled)
    return 1;
  size_t n = static_cast<size_t>(count);
  float *grads = compiled->gradients(), *params = compiled->parameters();
  float *p = allocate(n), *g = allocate(n), *m = allocate(n), *v = allocate(n);
  for (size_t i = 0; i < n; ++i) {
    grads[i] = g[i] = 0.01f * std::sin(float(i % 1000));
    p[i] = params[i];
  }
  // Small sizes repeat inside a round, so that a round is at least some milliseconds.
  int repeats = static_cast<int>(std::max<int64_t>(1, 2'000'000 / count));
  std::vector<double> ours, hand, stream;
  Triad triad(count);
  int64_t t = 0;
  for (int round = -1; round < rounds; ++round) {
    double start = now();
    compiled->run(repeats);
    double mine = (now() - start) / repeats;
    start = now();
    for (int i = 0; i < repeats; ++i)
      byHand(p, g, m, v, n, t + i + 1, threads);
    double theirs = (now() - start) / repeats;
    t += repeats;
    double copy = triad.seconds(threads, repeats);
    if (round < 0)
      continue;
    ours.push_back(mine);
    hand.push_back(theirs);
    stream.push_back(copy);
  }
  double worst = 0;
  for (size_t i = 0; i + 8 <= n; ++i)
    worst = std::max(worst, double(std::fabs(p[i] - params[i])));
  if (worst > 1e-4) {
    std::fprintf(stderr, "the two updates disagree by %g\n", worst);
    return 1;
  }
  std::string what = "\"parameters\": " + std::to_string(count) + ", \"leaves\": " + std::to_string(leaves) +
                     ", \"threads\": " + std::to_string(threads);
  double bytes = 32.0 * double(n), limit = std::max(bytes / median(hand), 12.0 * double(n) / median(stream));
  print("dync", what, "bandwidth", bytes / median(ours) / 1e9, "GB/s");
  print("by hand", what, "bandwidth", bytes / median(hand) / 1e9, "GB/s");
  print("triad", what, "bandwidth", 12.0 * double(n) / median(stream) / 1e9, "GB/s");
  print("dync", what, "share of the faster limit", bytes / median(ours) / limit, "1");
  print("dync", what, "time", median(ours) * 1e6, "us");
  print("by hand", what, "time", median(hand) * 1e6, "us");
  return 0;
}
