//===- RunResult.h - finished runs as values of an experiment -------------===//
#pragma once

#include "frontend/Diagnostics.h"
#include "frontend/elaborate/Series.h"
#include "runtime/Plan.h"

namespace dyn {
struct Checkpoint;
}

namespace dyn::elab {

struct TrainRequest;

/// What a run measured under a metric: its own axes (`leaf`), then its moments `at`. `rows` are the values moment by
/// moment.
std::shared_ptr<Series> seriesOf(const plan::Metric &metric, llvm::ArrayRef<int64_t> at = {},
                                 llvm::ArrayRef<double> rows = {});

/// Metrics, parameters and outcome of a run, or of the runs of a sweep. `prefix` narrows the view: `r.test` has the
/// prefix "test.".
struct RunResult {
  std::string name;
  std::string prefix;
  bool diverged = false;
  int64_t divergedAt = 0; ///< the step
  bool isSketch = false; ///< of a run that is only checked: names are known, values are not
  std::map<std::string, std::shared_ptr<Series>> series;
  std::vector<std::pair<std::string, Value>> leaves; ///< final parameters by path, in the order of trees
  std::vector<std::pair<std::string, Value>> states; ///< final states of its models by path
  std::vector<std::pair<std::string, Value>> ruleStates; ///< of its optimizers and clips: `optimizer.m.net.W`
  std::vector<std::shared_ptr<const Checkpoint>> checkpoints; ///< in their order
  std::shared_ptr<const TrainRequest> request;       ///< of a run: what was asked for; null in a session
  std::map<std::string, double> hyperparameters;
  std::vector<Axis> axes;                          ///< of a sweep: its swept names; else empty
  std::vector<std::shared_ptr<RunResult>> members; ///< row-major over the axes
  std::shared_ptr<RunResult> model;                ///< one of the sweep: says what there is where no member is left

  bool isSweep() const { return !axes.empty(); }
  /// Whether a metric or a hyperparameter has this name, or metrics begin with it.
  bool measures(const std::string &first) const;
  /// Parameters, and with `withStates` what its models keep, as a tree; null where a value is not known.
  std::shared_ptr<Series> tree(bool withStates) const;
  /// What `run.names[from].…` means: a metric, `diverged`, a hyperparameter, or a narrower view. Of a sweep each has its
  /// axes.
  Value member(const std::vector<std::string> &names, size_t from, DiagnosticEngine &diags, Span span) const;
  /// The members at one position of an axis: a run where no axis is left.
  std::shared_ptr<RunResult> at(size_t axis, int64_t position) const;
  std::shared_ptr<RunResult> select(size_t axis, llvm::ArrayRef<int64_t> positions) const;

private:
  const RunResult *anyMember() const { return members.empty() ? model.get() : members.front().get(); }
  Value find(const std::string &path, Span span) const;
  Value findInMembers(const std::string &path, DiagnosticEngine &diags, Span span) const;
  std::vector<std::string> known() const;
};

} // namespace dyn::elab
