//===- ProgramObject.h - code with its data, for a linker -------*- C++ -*-===//

#pragma once

#include "frontend/driver/Compile.h"
#include "runtime/standalone/Manifest.h"

#include <optional>
#include <string>

namespace dyn {

/// The target of `--cpu`; nothing after a report.
std::optional<Target> targetFor(const std::string &cpu, DiagnosticEngine &diags);

/// Compiles a module at the nd stage to an object that exports `dyn_program` and nothing else. The plan is completed.
std::optional<std::string> programObject(mlir::ModuleOp nd, plan::Plan &plan, const standalone::Manifest &manifest,
                                         const Target &target, DiagnosticEngine &diags);

} // namespace dyn
