//===- Execution.h - one run of a program -----------------------*- C++ -*-===//
//
// A program with what it runs on: its code (native, or the plain evaluator) and a session. Whoever runs trains (a
// command, an experiment, a sweep, the REPL) makes executions; what differs between them is in SessionOptions and in
// what they do with the outcome.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/driver/Compile.h"
#include "frontend/elaborate/RunResult.h"
#include "runtime/Session.h"

namespace dyn {

class Interpreter;
class Jit;

/// The entry points of one program: object code linked into this process, or its module walked by the evaluator.
/// Read-only once made, so executions may share it.
class Code {
public:
  /// Links an object. Null after a report.
  static std::shared_ptr<Code> link(const std::string &object, DiagnosticEngine &diags);
  static std::shared_ptr<Code> interpret(mlir::ModuleOp nd);
  ~Code();
  EntryLookup lookup() const;

private:
  Code();
  std::unique_ptr<Jit> jit;
  std::unique_ptr<Interpreter> interpreter;
};

/// The module at the nd stage, made when a failure asks for it; null when that fails.
using NdModule = std::function<mlir::ModuleOp()>;

class Execution {
public:
  /// Allocates, starts threads and fills the data sets. Null after a report.
  static std::unique_ptr<Execution> create(const plan::Plan &plan, std::shared_ptr<Code> code, SessionOptions options,
                                           DiagnosticEngine &diags);

  /// Runs to the end. Parameters that the last update spoilt count as a loss that is not finite does.
  const Outcome &run();

  Session &session() { return *running; }
  const Outcome &outcome() const { return ended; }
  /// Metrics so far, parameters as they are now, and whether the run diverged.
  std::shared_ptr<elab::RunResult> result() const;
  /// One line: steps and the last value of each metric that is a number.
  std::string summary() const;
  /// Reports why the run stopped. A value that is not finite names its step and its leaf, or the first operation, found
  /// by one more step of `nd` with the plain evaluator.
  void explain(const NdModule &nd, DiagnosticEngine &diags, const SourceManager &sources);

private:
  Execution() = default;
  std::shared_ptr<Code> code; ///< outlives the session that calls it
  std::unique_ptr<Session> running;
  Outcome ended;
};

/// A parameter or a state as it is now.
std::shared_ptr<elab::Series> arrayOf(const Session &session, const plan::Leaf &leaf);

/// Since the process began, loader included; the system counts in hundredths of a second.
double millisecondsSinceStart();

} // namespace dyn
