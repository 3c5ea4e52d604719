//===- SessionInternals.h - what ctx->runtime points at -------------------===//
#ifndef DYN_RUNTIME_SESSIONINTERNALS_H
#define DYN_RUNTIME_SESSIONINTERNALS_H

#include "runtime/AllocationHooks.h"
#include "runtime/Arena.h"
#include "runtime/Feeds.h"
#include "runtime/Profile.h"
#include "runtime/RunFolder.h"
#include "runtime/Session.h"
#include "runtime/Threads.h"
#include "runtime/cpu/Matmul.h"
#include "runtime/data/Loader.h"

#include <atomic>
#include <optional>

/// The state behind the functions of Functions.def; owned by a Session.
struct DynRuntime {
  enum class EventKind { step, epoch, end, at, running };
  struct Event {
    EventKind kind;
    int64_t every;
    std::vector<int64_t> at; ///< sorted
  };

  dyn::plan::Plan plan;
  dyn::EntryLookup lookup;
  dyn::SessionOptions options;
  dyn::RunFolder folder; ///< claimed from the run's begin to the session's end

  dyn::Arenas arenas;
  std::optional<dyn::ThreadPool> pool;
  dyn::cpu::Products products;
  std::vector<dyn::Feed> feeds;
  std::vector<std::optional<dyn::data::RowMaker>> makers; ///< of each feed whose source is endless
  std::vector<DynBatch> batches;
  std::vector<double> numbers;
  std::vector<Event> events;
  std::vector<bool> clockIsEpoch; ///< of each metric
  dyn::MetricSeries series;
  dyn::MetricStream metrics;
  dyn::AllocationHooks hooks;
  dyn::PartClock clock; ///< of the plan's parts
  std::optional<dyn::Profile> profile; ///< once a run with parts is over
  std::vector<std::shared_ptr<const dyn::Checkpoint>> checkpoints;
  dyn::Status checkpointFile; ///< the first file of a checkpoint that could not be written
  std::unique_ptr<dyn::Device::Queue> queue; ///< of the session's device; null: it has none
  std::string deviceError; ///< why status is DYN_DEVICE_FAILED
  std::string dataError;   ///< why status is DYN_BAD_DATA
  DynContext ctx = {};
  int64_t previousEpoch = -1;     ///< clock.epoch before the last update; -1: before the first
  const double *stop = nullptr;   ///< the flag of `stop when`; null: the train has none
  std::atomic<bool> failed{false}; ///< claimed by the first dyn_fail

  /// Whether updates stop here because a person asked.
  static bool interrupted();
  bool due(int64_t event) const;
  /// Whether a `stop when` held: no further update is made.
  bool isStopped() const { return stop && *stop != 0; }
  /// The next batch of a feed whose source is endless: all rows that its set holds, made anew. No pass ever ends.
  void makeBatch(size_t feed);
  /// Between two steps, the first and the last included: begins where the options say, keeps checkpoints that are due.
  void betweenSteps();
  /// Ends the run if something failed on the device.
  void noteDevice(dyn::Status status);
};

namespace dyn {
/// The feeds of a session at their beginning, by the keys of its context.
void makeFeeds(DynRuntime &runtime);
} // namespace dyn

#endif // DYN_RUNTIME_SESSIONINTERNALS_H
