//===- RuleCode.h - objects of a rule's library -----------------*- C++ -*-===//

#pragma once

#include "frontend/driver/Compile.h"
#include "runtime/rule/Rule.h"
#include "runtime/standalone/Manifest.h"

namespace dyn {

/// What a rule does that a library cannot, and what to do.
struct NoLibrary {
  std::string what, help;
};

/// Whether a rule of the module at the dyn stage, or one that it holds, asks for more than the gradient that it is given.
bool asksForObjective(mlir::ModuleOp dyn);
/// The loop around the rule goes, and so does what starts parameters: callers have both.
void dropProgram(mlir::ModuleOp nd);
/// Why the module cannot be code for ranges of `count` elements (0: for its leaves); nothing: it can.
std::optional<NoLibrary> whyNoLibrary(mlir::ModuleOp nd, int64_t count);

/// The code of a rule, range by range; the last object also exports the C interface.
struct RuleCode {
  struct State {
    std::string name;
    plan::Element element;
    int64_t count; ///< elements in all, of a rule with fixed leaves
  };
  std::string rule, prefix, precision, cpu;
  bool fixed = false;
  int64_t count = 0; ///< parameters, if fixed
  std::vector<standalone::Hyperparameter> hyperparameters;
  std::vector<State> states;
  std::vector<std::pair<std::string, std::string>> objects; ///< name and bytes

  /// Those that C can set, in order.
  std::vector<standalone::Hyperparameter> settable() const;
  bool compile(mlir::ModuleOp nd, plan::Plan plan, int64_t length, bool last, const Target &target,
               DiagnosticEngine &diags);

private:
  std::vector<int64_t> lengths;
  std::vector<plan::Number> numbers; ///< of the first range; those of the others are the same
};

} // namespace dyn
