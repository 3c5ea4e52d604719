//===- RunResult.h - a finished run as a value of an experiment -----------===//
#pragma once

#include "frontend/Diagnostics.h"
#include "frontend/elaborate/Value.h"

namespace dyn::elab {

/// Metrics, parameters and outcome of a run. `prefix` narrows the view: `r.test` has the prefix "test.".
struct RunResult {
  std::string name;
  std::string prefix;
  bool diverged = false;
  bool isSketch = false; ///< of a run that is only checked: names are known, values are not
  std::map<std::string, std::shared_ptr<Series>> series;
  std::map<std::string, Value> leaves; ///< final parameters by path
  std::map<std::string, double> hyperparameters;

  /// What `run.names[from].…` means: a metric, `diverged`, a hyperparameter, or a narrower view.
  Value member(const std::vector<std::string> &names, size_t from, DiagnosticEngine &diags, Span span) const;
};

} // namespace dyn::elab
