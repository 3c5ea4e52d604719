//===- Runner.h - dync run: trains and experiments --------------*- C++ -*-===//

#pragma once

#include "frontend/driver/Execution.h"
#include "frontend/driver/WarmStart.h"
#include "frontend/driver/Workspace.h"
#include "frontend/elaborate/ExpectEvaluator.h"
#include "runtime/Device.h"

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
  bool profile = false;             ///< of trains, on this processor
  std::string target = "cpu";       ///< cpu, cuda or cuda:N
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
  struct Chosen {
    std::vector<const ast::TrainDecl *> trains;
    std::vector<const ast::ExperimentDecl *> experiments;
  };
  int runFile();
  std::optional<Chosen> choose();
  /// Finds the device that the options name, and makes code for it; false after a report.
  bool placeProgram();
  int runTrain(const ast::TrainDecl &decl, const std::string &folder);
  int runExperiment(const ast::ExperimentDecl &decl);
  bool setsAreRead(const std::vector<const ast::ExperimentDecl *> &experiments);
  /// The members' results, or none and an exit status.
  std::vector<std::shared_ptr<elab::RunResult>> sweep(elab::SweepRequest request, int &status);
  /// Runs the program of an earlier run. What its spec says is read only when its claims are due, or a failure.
  int runWarm(Program made);
  std::optional<elab::TrainRequest> requestFor(const ast::TrainDecl &decl);
  int conclude(Finished &finished, const std::function<bool()> &claims);
  Finished train(const elab::TrainRequest &request, const std::string &folder, bool inExperiment);
  Finished train(const elab::TrainRequest &request, const std::string &folder, bool inExperiment, DiagnosticEngine &own);
  Finished execute(const Program &program, const NdModule &nd, const std::string &folder, bool inExperiment,
                   std::shared_ptr<const Checkpoint> start = nullptr);
  void printTimings(const Timings &timings, const char *code) const;
  void printCounts() const;
  bool expects(const ast::TrainDecl &decl, const elab::TrainRequest &request, const elab::RunResult &result);

  RunOptions options;
  Workspace work;
  std::shared_ptr<Device> device; ///< where programs run; null: this machine
  std::unique_ptr<WarmStart> warm; ///< of the only train that the options run, else null
};

} // namespace dyn
