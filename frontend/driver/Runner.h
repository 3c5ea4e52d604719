//===- Runner.h - dync run: trains and experiments --------------*- C++ -*-===//

#pragma once

#include "frontend/Library.h"
#include "frontend/driver/Compile.h"
#include "frontend/driver/WarmStart.h"
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
  int runTrain(const ast::TrainDecl &decl, const std::string &folder);
  int runExperiment(const ast::ExperimentDecl &decl);
  /// Runs the program of an earlier run. What its spec says is read only when its claims are due, or a failure.
  int runWarm(Program made);
  std::optional<elab::TrainRequest> requestFor(const ast::TrainDecl &decl);
  int conclude(Finished &finished, const std::function<bool()> &claims);
  Finished train(const elab::TrainRequest &request, const std::string &folder, bool inExperiment);
  Finished train(const elab::TrainRequest &request, const std::string &folder, bool inExperiment, DiagnosticEngine &own);
  /// The module at the nd stage, made when the interpreter or a failure asks for it; null when that fails.
  using NdModule = std::function<mlir::ModuleOp()>;
  Finished execute(Program &program, const NdModule &nd, const std::string &folder, bool inExperiment);
  void printTimings(const Timings &timings, const char *code) const;
  bool expects(const ast::TrainDecl &decl, const elab::TrainRequest &request, const elab::RunResult &result);
  std::optional<std::vector<std::pair<std::string, elab::Value>>> overrides(const ast::TrainDecl &decl);
  void explainNotFinite(Session &session, const Outcome &outcome, const NdModule &nd);
  mlir::MLIRContext &mlirContext();
  void report();

  RunOptions options;
  SourceManager sources;
  DiagnosticEngine diags;
  size_t reported = 0; ///< diagnostics shown so far
  SpecLibrary library;
  const ast::Program *program = nullptr;
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<ObjectCache> cache;
  std::unique_ptr<WarmStart> warm; ///< of the only train that the options run, else null
  elab::ScopePtr globals;
  std::vector<std::unique_ptr<ast::Program>> parsedSets; ///< of `--set`: values point into them
};

} // namespace dyn
