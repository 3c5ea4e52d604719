//===- Evaluate.h - an expression as a program of its own -------*- C++ -*-===//

#pragma once

#include "frontend/driver/Workspace.h"
#include "frontend/elaborate/ExpectEvaluator.h"

namespace dyn::repl {

/// What an expression came out as.
struct Evaluated {
  elab::Value value;  ///< its arrays are known: Series without axes
  bool draws = false; ///< another evaluation would give other numbers
};

/// Elaborates an expression over the session's names, compiles what is not known by then and runs it once. None after
/// a report. Milliseconds of each stage are added to `timings`.
std::optional<Evaluated> evaluate(const ast::Expr &expr, Workspace &work, const Library &names, Timings &timings);

} // namespace dyn::repl
