//===- Settable.h - what may change without a compiler ----------*- C++ -*-===//
//
// Numbers of a plan carry formulas of the train's hyperparameters. A formula
// alone proves nothing: a hyperparameter may also be a size, a length, or what
// a condition was decided by. So a hyperparameter can be set in a compiled
// program only when no comparison and no size was decided by it and when the train,
// elaborated at two other values, is the same program with the numbers that
// the formulas foretell.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/driver/Workspace.h"
#include "runtime/standalone/Manifest.h"

namespace dyn {

/// A train as elaborated, and what its elaboration decided.
struct Elaboration {
  std::unique_ptr<elab::Elaborated> train;
  std::vector<std::string> decisions;
};
/// Null train after a report in `own`.
Elaboration elaborateForBuild(Workspace &work, const Library &library, const elab::TrainRequest &request,
                              DiagnosticEngine &own);

/// The train's hyperparameters that are numbers. Formulas of `base` that do not give the number they stand beside are
/// taken away, and what they hang on is fixed.
std::vector<standalone::Hyperparameter> settableOf(Workspace &work, const Library &library,
                                                   const elab::TrainRequest &request, Elaboration &base);

} // namespace dyn
