//===- Session.h - a running program --------------------------------------===//
//
// From a plan and a way to find entry points to a finished run:
//
//   auto session = Session::create(std::move(plan), lookup, options);   // allocates, starts threads
//   session->load();                                                   // fills the sets
//   Outcome outcome = session->run();                                  // calls plan.entry
//
// An entry point is anything that takes a DynContext*: native code or an
// interpreter. Both call the functions of Functions.def, which are defined here.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_SESSION_H
#define DYN_RUNTIME_SESSION_H

#include "runtime/Arena.h"
#include "runtime/Checkpoint.h"
#include "runtime/Device.h"
#include "runtime/Metrics.h"
#include "runtime/Plan.h"
#include "runtime/Profile.h"
#include "runtime/Status.h"
#include "runtime/StepGate.h"
#include "runtime/abi.h"
#include "runtime/sinks/Memory.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dyn {

using Entry = std::function<void(DynContext *)>;
/// The sets of a session once they are filled. Nothing writes them any more, so sessions whose plans have the same
/// arenas, sources, sets, and numbers that data functions read, may share them; they live as long as one of those does.
struct LoadedSets {
  SharedBlocks blocks;
};

/// From the name of an entry point to its code; empty when there is none of that name.
using EntryLookup = std::function<Entry(const std::string &)>;

struct SessionOptions {
  int threads = 0;          ///< <= 0: what the machine has
  std::string directory;    ///< run folder, made if missing; empty: nothing is written
  std::string run;          ///< value of `run` in metrics.jsonl; empty: the plan's name
  bool progress = false;    ///< a progress line on stderr
  bool keepSeries = true;   ///< keep metrics in memory (for `expect`)
  StepGate *gate = nullptr; ///< where somebody may hold the loop; outlives the session. Null: nobody does
  std::shared_ptr<Device> device; ///< where kernels run and arenas are; null: this machine
  bool catchInterrupt = false; ///< an InterruptScope around the run
  std::shared_ptr<const LoadedSets> sets; ///< of another session: load() has nothing to do
  std::vector<std::unique_ptr<Sink>> sinks; ///< more places for metrics
  bool keepCheckpoints = false; ///< those of the plan, in memory, for runs that begin there
  std::shared_ptr<const Checkpoint> start; ///< where the run begins; null: at its initial values
};

/// How a run ended.
struct Outcome {
  DynStatus status = DYN_OK;
  int64_t step = 0;          ///< updates made
  int64_t site = -1;         ///< number in plan.sites when a guard, index or loop failed
  std::string message;       ///< empty on success
  Status output;             ///< files and sinks: separate, as a run may succeed and its disk be full
  /// 0 success, 1 failed, 130 interrupted.
  int exitCode() const;
};

class Session {
public:
  /// Checks the plan, allocates arenas, makes products, starts threads. Fails when an entry point is
  /// missing, memory is short or the plan does not hold together.
  static Expected<std::unique_ptr<Session>> create(plan::Plan plan, EntryLookup lookup, SessionOptions options);
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  /// Reads every source and fills the sets; names file, row and field of what it refuses.
  Status load();
  /// The sets, once loaded, for other sessions.
  std::shared_ptr<const LoadedSets> sets() const;
  /// Runs plan.entry to its end, drains metrics, writes final.safetensors (and profile.json, of a plan with parts) when
  /// there is a folder.
  Outcome run();

  const plan::Plan &plan() const;
  /// What entry points receive; valid as long as the session.
  DynContext &context();
  /// First element of a parameter or state.
  const void *data(const plan::Leaf &leaf) const;
  /// Other values for the plan's numbers, as many and in the same order; of a loop that is held, or before the run.
  /// The next step reads them.
  void setNumbers(const std::vector<plan::Number> &numbers);
  /// Kept by keepCheckpoints, in their order.
  const std::vector<std::shared_ptr<const Checkpoint>> &checkpoints() const;
  /// Series kept by keepSeries: complete once the run is over, and while its loop is held.
  const MetricSeries &series() const;
  /// Where the time of a run went that is over and did not fail; null when its plan has no parts.
  const Profile *profile() const;
  /// After a crash in the code of a run: its progress is shown no more. Nothing else of the session may be used then, nor
  /// may it be destroyed.
  void abandon();

private:
  explicit Session(std::unique_ptr<DynRuntime> runtime);
  std::unique_ptr<DynRuntime> runtime;
};

/// Asks the running sessions to stop after the present step, as the first SIGINT does. Async-signal-safe.
void requestInterrupt();

/// While it lives SIGINT ends the runs of this process after their present step; a second one kills. One at a time: whoever
/// runs several sessions makes one around all of them.
class InterruptScope {
public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope &) = delete;
  InterruptScope &operator=(const InterruptScope &) = delete;

  /// Whether a person asked to stop since the scope began.
  static bool isInterrupted();

private:
  struct State;
  std::unique_ptr<State> state; ///< what SIGINT did before
};

} // namespace dyn
#endif // DYN_RUNTIME_SESSION_H
