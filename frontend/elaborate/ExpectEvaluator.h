//===- ExpectEvaluator.h - experiments and the claims of trains -----------===//
#pragma once

#include "frontend/elaborate/Elaborator.h"
#include "frontend/elaborate/RunResult.h"

namespace dyn::elab {

/// Runs what stands outside a train: values are computed by the plain evaluator as they are met.
class ExpectEvaluator {
public:
  using RunTrain = std::function<std::shared_ptr<RunResult>(TrainRequest)>;

  ExpectEvaluator(mlir::MLIRContext &context, DiagnosticEngine &diags, const Library &library, ScopePtr globals);
  ~ExpectEvaluator();

  /// Whether every `expect` of a train holds for its run. Those that do not are reported.
  bool train(const ast::TrainDecl &decl, const TrainRequest &request, const RunResult &result, bool verbose);
  /// Runs the statements of an experiment in order; whether all ran and every `expect` held.
  bool experiment(const ast::ExperimentDecl &decl, const RunTrain &runTrain, bool verbose);
  /// Goes through an experiment without running anything: each `run` whose arguments are known without a run is given
  /// to `elaborate`, which answers with what its metrics are called. Values of metrics are unknown (invalid), and what
  /// follows from them is passed over.
  void check(const ast::ExperimentDecl &decl, const RunTrain &elaborate);
  /// A schedule's value at a step.
  std::optional<double> scheduled(const Rule &schedule, int64_t step, int64_t total, int64_t epoch);
  /// An expression over declarations, computed now.
  std::optional<Value> value(const ast::Expr &expr);

private:
  bool changePart(const ast::ChangePart &part, const ast::TrainDecl &train, TrainRequest &request, Frame &frame);
  bool expect(const ast::Expr &claim, Frame &frame, bool verbose);
  Value forTrain(const Value &value, Span span);
  Value run(const ast::RunStmt &stmt, Frame &frame, const RunTrain &runTrain);

  DiagnosticEngine &diags;
  Elaborator e;
  ScopePtr globals;
  mlir::OwningOpRef<mlir::ModuleOp> scratch;
  std::set<std::string> folders; ///< names of runs so far
};

} // namespace dyn::elab
  /// The same as code that is still to be run: its arrays are results of this evaluator's ops.
  std::optional<Value> elaborated(const ast::Expr &expr);
  /// What `run NAME = …` asks for; none after a report.
  std::optional<TrainRequest> request(const ast::RunStmt &stmt);
  /// Lets expressions draw, from the stream of noise.
  void allowDraws();
  /// Whether a claim holds; reported where it does not.
  bool claim(const ast::Expr &expr, bool verbose);
