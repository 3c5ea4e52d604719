//===- ExpectEvaluator.h - experiments and the claims of trains -----------===//
#pragma once

#include "frontend/elaborate/Elaborator.h"
#include "frontend/elaborate/RunResult.h"

namespace dyn::elab {

class TrainElaborator;

/// The members of a sweep, row-major over its axes: the last name varies fastest.
struct SweepRequest {
  std::string name;
  std::vector<Axis> axes;
  std::vector<TrainRequest> members; ///< `runName` is that of the sweep with the labels of its axes: `s/width=64,seed=0`
  /// By member: those with one number differ in nothing but `seed`.
  std::vector<size_t> variants;
};

/// Runs what stands outside a train: values are computed by the plain evaluator as they are met.
class ExpectEvaluator {
public:
  using RunTrain = std::function<std::shared_ptr<RunResult>(TrainRequest)>;
  /// The members' results in order; none after a report.
  using RunSweep = std::function<std::vector<std::shared_ptr<RunResult>>(SweepRequest)>;
  /// What `run` and `sweep` do. Without `sweep` there are none.
  struct Runs {
    template <class Train>
    Runs(Train train, RunSweep sweep = nullptr) : train(std::move(train)), sweep(std::move(sweep)) {}
    RunTrain train;
    RunSweep sweep;
  };

  ExpectEvaluator(mlir::MLIRContext &context, DiagnosticEngine &diags, const Library &library, ScopePtr globals);
  ~ExpectEvaluator();

  /// Whether every `expect` of a train holds for its run. Those that do not are reported.
  bool train(const ast::TrainDecl &decl, const TrainRequest &request, const RunResult &result, bool verbose);
  /// Runs the statements of an experiment in order; whether all ran and every `expect` held.
  /// `given`: values for its hyperparameters.
  /// `seed` keys the experiment's draws, whatever `seed` it says itself.
  bool experiment(const ast::ExperimentDecl &decl, const Runs &runs, bool verbose,
                  std::map<std::string, Value> given = {}, std::optional<uint64_t> seed = std::nullopt);
  /// Goes through an experiment without running anything: each `run` whose arguments are known without a run is given
  /// to `elaborate`, which answers with what its metrics are called. Values of metrics are unknown (invalid), and what
  /// follows from them is passed over.
  void check(const ast::ExperimentDecl &decl, const Runs &elaborate);
  /// A schedule's value at a step.
  void holdSchedules(Scope &hyper, Scope &scope, int64_t total, int64_t epoch);
  std::optional<double> scheduled(const Rule &schedule, int64_t step, int64_t total, int64_t epoch);
  /// An expression over declarations, computed now.
  std::optional<Value> value(const ast::Expr &expr);
  /// The same as code that is still to be run: its arrays are results of this evaluator's ops.
  std::optional<Value> elaborated(const ast::Expr &expr);
  /// What `run NAME = …` asks for; none after a report.
  std::optional<TrainRequest> request(const ast::RunStmt &stmt);
  /// The value of `sweep NAME = …`, its members run by `members`; none after a report.
  std::optional<Value> sweep(const ast::RunStmt &stmt, RunSweep members);
  /// Lets expressions draw, from the stream of noise.
  void allowDraws();
  /// Whether a claim holds; reported where it does not.
  bool claim(const ast::Expr &expr, bool verbose);

private:
  /// A swept part of a `with`: its axis, and what each label stands for.
  struct Swept {
    const ast::ChangePart *part = nullptr;
    Axis axis;
    std::vector<Value> values;               ///< invalid where the word counts
    std::vector<const ast::Expr *> written;
  };
  std::optional<Swept> swept(const ast::ChangePart &part, Frame &frame);
  bool sweptItems(const ast::ChangePart &part, Swept &swept, Frame &frame);
  bool labelAxis(Swept &swept);
  bool checkAxes(const ast::RunStmt &stmt, llvm::ArrayRef<Swept> swept);
  Value sweep(const ast::RunStmt &stmt, const TrainRequest &base, llvm::ArrayRef<Swept> swept, const Runs &runs);
  bool setMember(const Swept &swept, int64_t position, TrainRequest &member);
  bool changePart(const ast::ChangePart &part, const Value &value, const ast::Expr &written, TrainRequest &request);
  std::optional<TrainRequest> requestOf(const ast::RunStmt &stmt, Frame &frame);
  /// The request of the run `from` as the base of a fork of it; nothing after a report.
  std::optional<TrainRequest> forkOf(const ast::RunStmt &stmt, const std::shared_ptr<RunResult> &from, Frame &frame);
  /// Gives a finished run what was asked for, and a fork the past that it shares.
  static void remember(RunResult &run, const TrainRequest &request);
  std::string folderOf(const std::string &name);
  /// What statements of an experiment may say: runs, models of finished runs, draws keyed by `seed`.
  void beginExperiment(const Runs &runs, uint64_t seed);
  void seed(const ast::SeedStmt &stmt, Frame &frame);
  std::optional<Value> modelOf(const std::shared_ptr<RunResult> &run, const std::string &name, Span span);
  bool expect(const ast::Expr &claim, Frame &frame, bool verbose);
  Value forTrain(const Value &value, Span span);
  Value run(const ast::RunStmt &stmt, Frame &frame, const Runs &runs);

  DiagnosticEngine &diags;
  Elaborator e;
  ScopePtr globals;
  mlir::OwningOpRef<mlir::ModuleOp> scratch;
  std::set<std::string> folders; ///< names of runs so far
  /// What a train's clauses say of its models, read here for a finished run.
  struct ModelsOfRun {
    std::unique_ptr<TrainElaborator> clauses;
    ScopePtr scope;
    std::shared_ptr<Value> tree; ///< parameters and states
  };
  std::map<std::shared_ptr<const RunResult>, ModelsOfRun> models;
};

} // namespace dyn::elab
