//===- Runner.h - dync run: trains and experiments --------------*- C++ -*-===//

#pragma once

#include "frontend/Library.h"
#include "frontend/driver/Compile.h"
#include "frontend/elaborate/RunResult.h"
#include "runtime/Session.h"

namespace dyn {

/// Options of `dync run`.
struct RunOptions {
  std::string file;
  std::string name;                 ///< train or experiment; empty: all experiments, or all trains
  std::vector<std::string> sets;    ///< NAME=VALUE
  std::optional<uint64_t> seed;
  std::string out;
  int threads = 0;
  bool quiet = false;
  bool interpret = false;
  bool cache = true;
  bool checkBounds = false;
  bool timings = false;
};

class Runner {
public:
  explicit Runner(RunOptions options);
  ~Runner();

  /// 0 only when everything ran and every `expect` held.
  int run();

private:
  struct Finished {
    std::shared_ptr<elab::RunResult> result;
    Outcome outcome;
    bool ran = false;
  };
  bool open();
  int runTrain(const ast::TrainDecl &decl);
  int runExperiment(const ast::ExperimentDecl &decl);
  Finished train(const elab::TrainRequest &request, const std::string &folder, bool inExperiment);
  Finished execute(Program &program, mlir::ModuleOp nd, const std::string &folder, bool inExperiment);
  bool expects(const ast::TrainDecl &decl, const elab::TrainRequest &request, const elab::RunResult &result);
  std::optional<std::vector<std::pair<std::string, elab::Value>>> overrides(const ast::TrainDecl &decl);
  std::string explainNotFinite(Session &session, const Outcome &outcome, mlir::ModuleOp nd);
  mlir::MLIRContext &mlirContext();
  void report();

  RunOptions options;
  SourceManager sources;
  DiagnosticEngine diags;
  SpecLibrary library;
  const ast::Program *program = nullptr;
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<ObjectCache> cache;
  elab::ScopePtr globals;
  std::vector<std::unique_ptr<ast::Program>> parsedSets; ///< of `--set`: values point into them
};

} // namespace dyn
