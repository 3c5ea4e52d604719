//===- Threads.cpp --------------------------------------------------------===//
//
// One job at a time. The caller publishes a job and raises its generation;
// every thread, the caller among them, takes the next piece number from a
// shared counter until none is left. A worker enters a job through its gate.
// The caller shuts the gate when no piece is left and returns when those that
// entered are out: a worker that the machine has not let run meanwhile (its
// core is someone else's) comes too late and delays nobody.
//
//===----------------------------------------------------------------------===//
#include "runtime/Threads.h"

#include "runtime/Subnormals.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace dyn {
namespace {

/// About 40 us: longer than the gap between two loops of a step, shorter than anyone would notice.
constexpr int spins = 2000;

thread_local int currentIndex = 0;
thread_local bool insidePiece = false;

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

} // namespace

struct ThreadPool::State {
  static constexpr int32_t shut = int32_t(1) << 30;
  // The job; written while the gate is shut and nobody is inside.
  DynRange body = nullptr;
  void *closure = nullptr;
  int64_t extent = 0, grain = 1, pieces = 0;

  alignas(64) std::atomic<uint32_t> generation{0}; ///< of the present job; workers sleep on it
  alignas(64) std::atomic<int64_t> next{0};        ///< first piece that nobody took
  alignas(64) std::atomic<int32_t> gate{shut};     ///< workers inside the job; `shut`: no more may enter
  std::atomic<int32_t> sleeping{0};
  std::atomic<bool> stop{false};
  std::atomic<bool> busy{false}; ///< a job runs: another thread's call is made inline
  std::vector<std::thread> workers;

  void takePieces() {
    insidePiece = true;
    for (int64_t piece; (piece = next.fetch_add(1, std::memory_order_relaxed)) < pieces;) {
      int64_t lo = piece * grain;
      body(closure, lo, std::min(lo + grain, extent));
    }
    insidePiece = false;
  }

  uint32_t waitForJob(uint32_t seen) {
    for (int i = 0; i < spins; ++i) {
      uint32_t now = generation.load(std::memory_order_acquire);
      if (now != seen)
        return now;
      pause();
    }
    sleeping.fetch_add(1, std::memory_order_seq_cst);
    generation.wait(seen, std::memory_order_seq_cst);
    sleeping.fetch_sub(1, std::memory_order_relaxed);
    return generation.load(std::memory_order_acquire);
  }

  /// False when the job is over already. Which job it is does not matter: the present one is whole.
  bool enter() {
    int32_t inside = gate.load(std::memory_order_relaxed);
    while (!(inside & shut))
      if (gate.compare_exchange_weak(inside, inside + 1, std::memory_order_acquire, std::memory_order_relaxed))
        return true;
    return false;
  }

  void work(int index) {
    currentIndex = index;
    FlushSubnormals scope;
    uint32_t seen = 0;
    while (true) {
      seen = waitForJob(seen);
      if (stop.load(std::memory_order_relaxed))
        return;
      if (!enter())
        continue;
      takePieces();
      gate.fetch_sub(1, std::memory_order_release);
    }
  }

  void publish() {
    next.store(0, std::memory_order_relaxed);
    gate.store(0, std::memory_order_release);
    generation.fetch_add(1, std::memory_order_seq_cst);
    if (sleeping.load(std::memory_order_seq_cst) > 0)
      generation.notify_all();
  }

  void finish() {
    gate.fetch_or(shut, std::memory_order_relaxed);
    for (int i = 0; gate.load(std::memory_order_acquire) != shut; ++i) {
      if (i < spins)
        pause();
      else
        std::this_thread::yield(); // more threads than cores: let the others run
    }
  }
};

ThreadPool::ThreadPool(int threads) : state(std::make_unique<State>()) {
  if (threads <= 0)
    threads = std::max(1, int(std::thread::hardware_concurrency()));
  for (int index = 1; index < threads; ++index)
    state->workers.emplace_back([s = state.get(), index] { s->work(index); });
}

ThreadPool::~ThreadPool() {
  state->stop.store(true, std::memory_order_relaxed);
  state->generation.fetch_add(1, std::memory_order_seq_cst);
  state->generation.notify_all();
  for (std::thread &worker : state->workers)
    worker.join();
}

int ThreadPool::threads() const { return int(state->workers.size()) + 1; }

int ThreadPool::threadIndex() { return currentIndex; }

void ThreadPool::parallelFor(DynRange body, void *closure, int64_t extent, int64_t grain) {
  grain = std::max<int64_t>(grain, 1);
  bool alone = state->workers.empty() || insidePiece || extent <= grain;
  if (alone || state->busy.exchange(true, std::memory_order_acquire)) {
    for (int64_t lo = 0; lo < extent; lo += grain)
      body(closure, lo, std::min(lo + grain, extent));
    return;
  }
  state->body = body;
  state->closure = closure;
  state->extent = extent;
  state->grain = grain;
  state->pieces = (extent + grain - 1) / grain;
  state->publish();
  state->takePieces();
  state->finish();
  state->busy.store(false, std::memory_order_release);
}

} // namespace dyn
