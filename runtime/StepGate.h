//===- StepGate.h - a loop that waits between two steps -------------------===//
//
// Whoever watches a run from another thread holds it here: parameters, states and metrics may be read and numbers
// changed while it waits. A run that nobody holds pays one relaxed load a step.
//
//   compute thread                           the one who watches
//   dyn_loop_next: holds(step)?              holdFrom(step)      (also from a signal handler)
//   wait() ............................      await() -> Held;  look;  resume()
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_STEPGATE_H
#define DYN_RUNTIME_STEPGATE_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace dyn {

class StepGate {
public:
  enum class State { Running, Held, Finished };
  static constexpr int64_t never = INT64_MAX;

  /// The loop waits before the first update with at least `step` updates behind it. Async-signal-safe.
  void holdFrom(int64_t step) { at.store(step, std::memory_order_relaxed); }

  //===--- The compute thread ---===//
  bool holds(int64_t step) const { return step >= at.load(std::memory_order_relaxed); }
  /// Waits until somebody lets the loop go on (true) or ends it (false).
  bool wait();
  /// Nothing is run any more.
  void finish();

  //===--- The one who watches ---===//
  /// Blocks until the loop waits or is over.
  State await();
  State state() const;
  /// Lets a waiting loop go on up to `until` updates.
  void resume(int64_t until = never);
  /// Ends the run: at once if it waits, else after the present step.
  void stop();

private:
  std::atomic<int64_t> at{never};
  mutable std::mutex mutex;
  std::condition_variable changed;
  State now = State::Running;
  bool stopping = false;
};

} // namespace dyn
#endif // DYN_RUNTIME_STEPGATE_H
