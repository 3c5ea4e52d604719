//===- Sweep.h - the members of a sweep, several at a time ------*- C++ -*-===//
//
// Members that differ in numbers and seeds are one program: it is compiled and linked once, and its data sets are
// loaded once. They run as loops over that code, several at a time on the threads of the machine. A member's bits
// depend on its own plan alone.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/driver/Execution.h"
#include "frontend/driver/Workspace.h"
#include "frontend/elaborate/ExpectEvaluator.h"

namespace dyn {

struct SweepOptions {
  int threads = 0;         ///< <= 0: what the machine has
  std::string out;         ///< holds a folder `sweep/member` for each; empty: nothing is written
  bool progress = false;   ///< on stderr
  bool interpret = false;
  bool timings = false;    ///< what was compiled and how long it all took, on stderr
  std::shared_ptr<Device> device; ///< where members run, one at a time; null: this machine
  const Library *names = nullptr; ///< what declarations mean; null: those of the opened file
};

/// How many of `threads` one of `members` like this gets; as many run at a time as that leaves room for.
int threadsOfMember(const plan::Plan &plan, size_t members, int threads);

/// A program of a sweep and what its members share.
struct SweepProgram;

/// Finds members that are one program before they are lowered: their text at the dyn stage is the same.
class SweepPrograms {
public:
  SweepPrograms(Workspace &work, const Library &names, bool interpret)
      : work(work), names(names), interpret(interpret) {}

  /// What a member runs: its own plan, made from one elaboration.
  struct Made {
    std::shared_ptr<SweepProgram> program;
    plan::Plan plan;
    std::map<std::string, double> hyperparameters;
  };
  /// Null after a report.
  std::optional<Made> make(const elab::TrainRequest &request, DiagnosticEngine &own);
  size_t count() const { return programs.size(); }

private:
  std::shared_ptr<SweepProgram> compile(elab::Elaborated &elaborated, DiagnosticEngine &own);

  Workspace &work;
  const Library &names;
  bool interpret;
  std::map<std::string, std::shared_ptr<SweepProgram>> programs; ///< by their text
};

/// Results of the members in order, none unless all ended well or diverged; and the exit status: 0, 1 after a report, or
/// 130 when a person stopped it, finished members kept.
struct SweepOutcome {
  std::vector<std::shared_ptr<elab::RunResult>> results;
  int status = 0;
};
SweepOutcome runSweep(Workspace &work, const elab::SweepRequest &request, const SweepOptions &options);

} // namespace dyn
