//===- Commands.h - dync check, dync emit -----------------------*- C++ -*-===//

#pragma once

#include "frontend/elaborate/Elaborator.h"
#include "passes/pipeline/Target.h"

#include <string>
#include <vector>

namespace dyn {

/// Checks each file and prints the plan of its trains: parameters, memory, steps, schedules, owners, kernels.
/// A file without trains (a library) is elaborated at sample shapes. 0 if nothing was refused.
int runCheck(const std::vector<std::string> &files);

struct EmitOptions {
  std::string file;
  std::string name;          ///< train; empty: the first
  std::string stage = "nd";
  std::string rule;          ///< "adamw on [64, 32]": one rule alone
  std::string target = "cpu"; ///< name of a Target
};
/// Prints a train, or one rule, at a stage of compilation.
int runEmit(const EmitOptions &options);

/// Prints a train at a stage; false after a report.
bool emitStage(const elab::TrainRequest &request, const std::string &stage, mlir::MLIRContext &context,
               const Library &library, elab::ScopePtr globals, DiagnosticEngine &diags,
               const Target &target = Target::cpu());

} // namespace dyn
