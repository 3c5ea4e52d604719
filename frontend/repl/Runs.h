//===- Runs.h - the runs of a session ---------------------------*- C++ -*-===//
//
// A run's loop is on a thread of its own. Whoever is at the terminal watches it; Ctrl-C holds it after the present
// step, and while it is held everything of it may be read and its numbers changed.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/driver/Execution.h"
#include "frontend/driver/Workspace.h"
#include "frontend/elaborate/ExpectEvaluator.h"

#include <set>
#include <thread>

namespace dyn::repl {

class LiveRun {
public:
  /// `variant`: the train with its arguments and changes, as it was entered.
  LiveRun(std::string name, std::string variant, elab::TrainRequest request, BuiltTrain built)
      : name(std::move(name)), variant(std::move(variant)), request(std::move(request)), built(std::move(built)) {}
  /// Ends the loop and waits for it.
  ~LiveRun();

  /// Starts the loop. False after a report.
  bool start(DiagnosticEngine &diags, int threads, bool progress);
  /// Waits for the thread of a loop that is over.
  void join();
  bool isOver() const { return gate.state() == StepGate::State::Finished; }
  int64_t step() const { return execution->session().context().clock.step; }
  int64_t total() const { return execution->session().plan().total; }
  /// Metrics, parameters and states as they are; the loop is held or over.
  std::shared_ptr<elab::RunResult> result();

  const std::string name, variant;
  elab::TrainRequest request;
  BuiltTrain built;
  std::map<std::string, std::string> settings; ///< what was set since the start, as written
  std::unique_ptr<Execution> execution;
  StepGate gate;
  bool crashed = false; ///< in its own code; known once joined

private:
  std::thread thread;
  std::shared_ptr<elab::RunResult> seen; ///< at `seenAt`
  int64_t seenAt = -1;
};

class Runs {
public:
  Runs(Workspace &work, const Library &names, int threads) : work(work), names(names), threads(threads) {}

  /// Runs a train until it ends or is held; false after a report. `stmt` outlives this.
  bool run(const ast::RunStmt &stmt);
  /// Runs the members of a sweep together, which nothing holds: Ctrl-C ends it. False after a report.
  bool sweep(const ast::RunStmt &stmt);
  /// The next run is held after so many steps.
  void holdNext(int64_t steps) { nextHold = steps; }
  /// Lets a run go on, for so many steps or to its end.
  bool resume(const std::string &name, std::optional<int64_t> steps);
  bool stop(const std::string &name);
  /// Gives a number of the run another value: the next step reads it, and nothing is compiled. `entry` names the text in
  /// messages.
  bool set(const std::string &path, const std::string &value, const std::string &entry);

  /// The run of that name, or for an empty name the one last dealt with; null after a report.
  LiveRun *find(const std::string &name);
  LiveRun *findQuietly(const std::string &name) const;
  /// Names of runs.
  std::vector<std::string> all() const;
  /// Names of runs and of sweeps.
  std::set<std::string> taken() const;
  void forget(const std::string &name) {
    runs.erase(name);
    sweeps.erase(name);
  }
  /// Paths that can be set in a run, and what else they may be called.
  std::vector<std::pair<std::string, std::string>> settable(const LiveRun &run) const;
  const Timings &timings() const { return lastTimings; }

private:
  bool isFree(const ast::Ident &name);
  bool watch(LiveRun &run);
  bool conclude(LiveRun &run);
  bool abandon(LiveRun &run);
  void bind(LiveRun &run);
  std::optional<std::string> resolve(const LiveRun &run, const std::string &path);
  std::optional<BuiltTrain> rebuilt(LiveRun &run, const std::map<std::string, std::string> &settings,
                                    const std::string &entry);
  void addPaths(const std::string &path, const std::string &alias, const ast::RuleDecl &rule, const ast::Expr &call,
                std::vector<std::pair<std::string, std::string>> &paths) const;
  bool refuseSetting(const LiveRun &run, const std::string &path, const std::string &value);

  Workspace &work;
  const Library &names;
  int threads;
  std::map<std::string, std::unique_ptr<LiveRun>> runs;
  std::set<std::string> sweeps; ///< their values are in the workspace
  std::string current;
  std::optional<int64_t> nextHold;
  Timings lastTimings;
};

} // namespace dyn::repl
