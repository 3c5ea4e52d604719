//===- Limits.cpp - what this machine can do at most ----------------------===//
#include "runtime/cpu/Limits.h"

#include "runtime/cpu/MatmulKernels.h"

#include <algorithm>
#include <chrono>

namespace dyn::cpu {
namespace {

constexpr int64_t leastBytes = int64_t(16) << 10;   ///< in the first cache
constexpr int64_t largestBytes = int64_t(64) << 20; ///< in memory; more is no slower
constexpr int64_t sizeStep = 4;
constexpr double leastSeconds = 2e-4; ///< of one measurement
constexpr int tries = 5;              ///< the best counts: others were disturbed
constexpr int64_t chainRounds = 2000; ///< of one piece: about 10 us

/// Seconds of one `work(times)`, per time, at best.
template <typename F> double bestSeconds(F work) {
  auto seconds = [&](int64_t times) {
    auto start = std::chrono::steady_clock::now();
    work(times);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  int64_t times = 1;
  double took = seconds(times);
  while (took < leastSeconds)
    took = seconds(times *= 2);
  for (int i = 1; i < tries; ++i)
    took = std::min(took, seconds(times));
  return took / static_cast<double>(times);
}

/// Calls body on [0, extent) by the pool, or here.
void forAll(ThreadPool &pool, bool shared, DynRange body, void *closure, int64_t extent, int64_t grain) {
  if (shared)
    pool.parallelFor(body, closure, extent, grain);
  else
    body(closure, 0, extent);
}

template <typename T> double chainSpeed(ThreadPool &pool, bool shared, const Kernels<T> &kernels) {
  struct Call {
    const Kernels<T> &kernels;
    static void piece(void *self, int64_t lo, int64_t hi) {
      volatile T sink = static_cast<Call *>(self)->kernels.chains((hi - lo) * chainRounds, T(0.999), T(0.001));
      static_cast<void>(sink);
    }
  } call{kernels};
  int64_t pieces = shared ? 4 * int64_t(pool.threads()) : 1;
  double took = bestSeconds([&](int64_t times) { forAll(pool, shared, Call::piece, &call, times * pieces, 1); });
  return static_cast<double>(pieces * chainRounds * kernels.chainFlops) / took;
}

template <typename T> double triadSpeed(ThreadPool &pool, bool shared, const Kernels<T> &kernels, int64_t bytes) {
  int64_t count = bytes / (3 * int64_t(sizeof(T)));
  struct Call {
    const Kernels<T> &kernels;
    std::vector<T> a, b, c;
    static void piece(void *self, int64_t lo, int64_t hi) {
      Call &call = *static_cast<Call *>(self);
      call.kernels.triad(call.a.data() + lo, call.b.data() + lo, call.c.data() + lo, T(0.5), hi - lo);
    }
  } call{
      kernels, {}, std::vector<T>(static_cast<size_t>(count), T(1)), std::vector<T>(static_cast<size_t>(count), T(2))};
  call.a.resize(static_cast<size_t>(count));
  int64_t grain = std::max<int64_t>(1, count / (4 * int64_t(pool.threads())));
  double took = bestSeconds([&](int64_t times) {
    for (int64_t i = 0; i < times; ++i)
      forAll(pool, shared, Call::piece, &call, count, grain);
  });
  return static_cast<double>(count * 3 * int64_t(sizeof(T))) / took;
}

template <typename T> Limits measure(ThreadPool &pool, bool shared, const Kernels<T> &kernels, int64_t mostBytes) {
  Limits limits;
  limits.flopsPerSecond = chainSpeed(pool, shared, kernels);
  for (int64_t bytes = leastBytes;; bytes *= sizeStep) {
    limits.triad.push_back({bytes, triadSpeed(pool, shared, kernels, bytes)});
    if (bytes >= std::min(mostBytes, largestBytes))
      return limits;
  }
}

} // namespace

double Limits::secondsFor(int64_t bytes, int64_t flops) const {
  double least = flopsPerSecond > 0 ? static_cast<double>(flops) / flopsPerSecond : 0;
  auto found = std::find_if(triad.begin(), triad.end(), [&](const TriadSpeed &speed) { return bytes <= speed.bytes; });
  if (triad.empty())
    return least;
  const TriadSpeed &speed = found == triad.end() ? triad.back() : *found;
  return std::max(least, static_cast<double>(bytes) / speed.bytesPerSecond);
}

Limits measureLimits(ThreadPool &pool, bool shared, plan::Element element, int64_t mostBytes) {
  const KernelSet &kernels = chooseKernels();
  return element == plan::Element::f64 ? measure(pool, shared, kernels.f64, mostBytes)
                                       : measure(pool, shared, kernels.f32, mostBytes);
}

} // namespace dyn::cpu
