//===- Metrics.h - from the loop to the places that show numbers ----------===//
//
//   compute thread ── emit ──► Ring ──► writer thread ──► sinks (Jsonl, Progress, Memory)
//
// The compute thread copies a value into the ring and goes on: no allocation,
// no system call, below 100 ns. When the ring is full it waits: no metric is
// lost. A sink that fails (a full disk) is reported at the end; the others go on.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_METRICS_H
#define DYN_RUNTIME_METRICS_H

#include "runtime/Plan.h"
#include "runtime/Status.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace dyn {

/// One value of one metric, as a sink sees it; `values` live until the call returns.
struct Sample {
  int64_t metric = 0;             ///< number in the plan
  int64_t at = 0;                 ///< reading of the metric's clock
  std::span<const double> values; ///< row-major, as many as the metric's shape says
  bool single = false;            ///< the values were f32: nine digits say it all
};

/// Where time stands, for sinks that show it; written by the compute thread.
struct RunProgress {
  std::atomic<int64_t> step{0};
  std::atomic<int64_t> epoch{0};
  int64_t total = 0; ///< updates planned
  std::atomic<bool> held{false}; ///< the loop waits and somebody else has the terminal
};

/// One place that takes metrics. All calls come from the writer thread, but open and close.
class Sink {
public:
  virtual ~Sink() = default;
  /// Called once before the first sample; `plan` and `progress` outlive the sink.
  virtual Status open(const plan::Plan &plan, const RunProgress &progress) = 0;
  virtual void write(const Sample &sample) = 0;
  /// Called a few times a second, samples or not.
  virtual void tick() {}
  /// Called once after the last sample; says whether everything arrived.
  virtual Status close() = 0;
};

/// The ring, the writer thread and its sinks.
class MetricStream {
public:
  MetricStream();
  ~MetricStream();
  MetricStream(const MetricStream &) = delete;
  MetricStream &operator=(const MetricStream &) = delete;

  /// Opens the sinks and starts the writer. `plan` must outlive this.
  Status start(const plan::Plan &plan, std::vector<std::unique_ptr<Sink>> sinks);
  /// Compute thread only. element as in dyn_draw; `values` is copied.
  void emit(int64_t metric, int32_t element, const void *values, int64_t at);
  /// Compute thread only: what progress shows.
  void setClock(int64_t step, int64_t epoch) {
    progress.step.store(step, std::memory_order_relaxed);
    progress.epoch.store(epoch, std::memory_order_relaxed);
  }
  /// Compute thread only: returns when every sample has reached the sinks and they have seen that the loop is held.
  void hush();
  /// Compute thread only: the end of `hush`.
  void resume() { progress.held.store(false, std::memory_order_release); }
  /// Drains the ring, stops the writer, closes the sinks; the first failure of any of them.
  Status finish();

private:
  struct State;
  std::unique_ptr<State> state;
  RunProgress progress;
};

} // namespace dyn
#endif // DYN_RUNTIME_METRICS_H
