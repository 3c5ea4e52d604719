//===- Threads.h - the one threading door ---------------------------------===//
#ifndef DYN_RUNTIME_THREADS_H
#define DYN_RUNTIME_THREADS_H

#include "runtime/abi.h"

#include <cstdint>
#include <memory>

namespace dyn {

/// A caller and threads() - 1 workers that live as long as the pool. Workers
/// spin for a few microseconds after a piece of work, then sleep. A call makes
/// no allocation. One call runs at a time; a call from inside a piece runs
/// inline.
class ThreadPool {
public:
  /// threads <= 0: what the machine has.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int threads() const;
  /// Calls body on [0, extent) in pieces that start at multiples of grain (>= 1) and end at the next
  /// multiple or at extent, whatever the number of threads: bits do not depend on it. Returns when all are done.
  void parallelFor(DynRange body, void *closure, int64_t extent, int64_t grain);

  /// 0 for the caller, 1 … threads() - 1 for workers: indexes scratch made per thread.
  static int threadIndex();

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace dyn
#endif // DYN_RUNTIME_THREADS_H
