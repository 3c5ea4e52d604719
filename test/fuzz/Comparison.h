//===- Comparison.h - trains, compiled and evaluated ------------*- C++ -*-===//
#ifndef DYN_TEST_FUZZ_COMPARISON_H
#define DYN_TEST_FUZZ_COMPARISON_H

#include "frontend/driver/Compile.h"
#include "frontend/elaborate/TrainElaborator.h"

#include <memory>
#include <string>
#include <vector>

namespace dyn::fuzz {

/// Runs the small trains of a file twice for a few steps: as native code and by the plain evaluator.
class Comparison {
public:
  Comparison() : context(makeContext()) {}

  /// Where the runs of the file at `path` part; empty if they do not. Trains that need arguments or are large are
  /// passed over.
  std::string run(const std::string &path);
  /// Trains that the last `run` ran.
  uint64_t compared() const { return trains; }

private:
  std::string compare(elab::Elaborated &elaborated, DiagnosticEngine &diags);

  std::unique_ptr<mlir::MLIRContext> context;
  uint64_t trains = 0;
};

} // namespace dyn::fuzz

#endif // DYN_TEST_FUZZ_COMPARISON_H
