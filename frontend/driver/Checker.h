//===- Checker.h - what elaboration refuses, and the plan of a train ------===//
//
// Elaborates declarations that nobody runs: trains by their defaults or as the experiments run them, what no train uses
// in a small train of its own (Samples.h).
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/driver/Compile.h"
#include "frontend/driver/Samples.h"
#include "frontend/elaborate/ExpectEvaluator.h"

#include <set>

namespace dyn {

class Checker {
public:
  /// Errors go to `diags`. `isQuiet`: no plans are printed.
  Checker(SourceManager &sources, DiagnosticEngine &diags, const Library &library, mlir::MLIRContext &context,
          elab::ScopePtr globals, bool isQuiet)
      : sources(sources), diags(diags), library(library), context(context), globals(std::move(globals)),
        isQuiet(isQuiet) {}

  /// All of a file; the plan of each train is printed.
  void check(const ast::Program &program);
  /// One declaration, as far as it can be elaborated by itself.
  void check(const ast::Decl &decl);
  /// Elaborates a train, and prints the first plan of each; null after errors, else its metrics by name.
  std::shared_ptr<elab::RunResult> checkTrain(const elab::TrainRequest &request);

private:
  void checkTrains(const ast::Program &program);
  static elab::TrainRequest requestOf(const ast::TrainDecl &train);
  void checkExperiment(const ast::ExperimentDecl &experiment);
  std::vector<std::shared_ptr<elab::RunResult>> checkSweep(const elab::SweepRequest &request);
  std::unique_ptr<elab::Elaborated> elaborate(const elab::TrainRequest &request, DiagnosticEngine &to);
  void printPlan(elab::Elaborated &elaborated, const ast::TrainDecl &train);
  void printSchedules(const elab::Elaborated &elaborated);
  std::optional<elab::TrainRequest> sampleRequest(const ast::TrainDecl &train, int number);
  void checkWithSamples(const ast::TrainDecl &train);
  /// Of a declaration for which there is a sample; errors go to `to`.
  bool elaborateAlone(const ast::Decl &decl, const SampleSizes &sizes, DiagnosticEngine &to);
  void checkAlone(const ast::Decl &decl);

  SourceManager &sources;
  DiagnosticEngine &diags;
  const Library &library;
  mlir::MLIRContext &context;
  elab::ScopePtr globals;
  bool isQuiet;
  Samples samples;
  std::set<const ast::TrainDecl *> seen;    ///< that were elaborated
  std::set<const ast::TrainDecl *> planned; ///< whose plan was printed
  std::string lastProgram; ///< of the train that was elaborated last: its text at the nd stage
  int64_t lastSteps = 0;   ///< and its length
};

} // namespace dyn
