//===- Forks.cpp - runs that go on from others, and models of finished runs -===//
#include "frontend/elaborate/ExpectEvaluator.h"
#include "frontend/elaborate/TrainElaborator.h"

#include "frontend/AstWalk.h"
#include "runtime/Checkpoint.h"

namespace dyn::elab {

//===----------------------------------------------------------------------===//
// fork r at step n
//===----------------------------------------------------------------------===//

/// A name of a folder that no run before has.
std::string ExpectEvaluator::folderOf(const std::string &name) {
  std::string folder = name;
  for (int n = 2; !folders.insert(folder).second; ++n)
    folder = name + "_" + std::to_string(n);
  return folder;
}

std::optional<TrainRequest> ExpectEvaluator::forkOf(const ast::RunStmt &stmt, const std::shared_ptr<RunResult> &run, Frame &frame) {
  const RunResult &from = *run;
  auto step = e.knownInt(e.evaluate(*stmt.variant.step, frame), stmt.variant.step->span, "the step of a fork");
  if (!step)
    return std::nullopt;
  if (!from.request) {
    diags.report(Diag::not_supported, stmt.span, "`fork` in a session is").help("write an experiment");
    return std::nullopt;
  }
  TrainRequest request = *from.request;
  request.runName = folderOf(stmt.name.text);
  request.changeScope = frame.scope;
  request.start = nullptr;
  request.from = run;
  for (TrainChange &change : request.changes)
    change.inherited = true;
  if (from.isSketch)
    return request;
  std::string others;
  for (auto &checkpoint : from.checkpoints) {
    if (checkpoint->clock.step == *step)
      request.start = checkpoint;
    others += (others.empty() ? "" : ", ") + std::to_string(checkpoint->clock.step);
  }
  if (request.start)
    return request;
  diags.report(Diag::no_checkpoint, stmt.variant.step->span, from.name, *step)
      .help(others.empty() ? "add `checkpoint at [" + std::to_string(*step) + "]` to the train `" + request.decl->name.text + "`"
                           : "it has some at " + others);
  return std::nullopt;
}

/// What a fork's run measured before the fork, then what the fork did: metrics of steps before it, of epochs that were over
/// by then.
static std::shared_ptr<Series> withPast(const Series &own, const Series &past, const Checkpoint &start) {
  auto made = std::make_shared<Series>(own);
  const Axis &axis = past.axes.back();
  auto last = static_cast<double>(axis.name == "epoch" ? start.previousEpoch : start.clock.step - 1);
  auto before = static_cast<int64_t>(llvm::count_if(axis.labels, [&](double moment) { return moment <= last; }));
  auto &labels = made->axes.back().labels;
  labels.insert(labels.begin(), axis.labels.begin(), axis.labels.begin() + before);
  made->values.insert(made->values.begin(), past.values.begin(), past.values.begin() + before * past.width());
  return made;
}

void ExpectEvaluator::remember(RunResult &run, const TrainRequest &request) {
  run.request = std::make_shared<TrainRequest>(request);
  if (!request.start)
    return;
  for (auto &[name, series] : run.series) {
    auto past = request.from->series.find(name);
    if (past != request.from->series.end() && past->second->shape == series->shape)
      series = withPast(*series, *past->second, *request.start);
  }
}

//===----------------------------------------------------------------------===//
// r.net(x)
//===----------------------------------------------------------------------===//

static bool hasModel(const ast::TrainDecl &train, const std::string &name) {
  bool found = false;
  ast::walk(*train.body, [&](const ast::Node &node) {
    if (auto *clause = ast::dynCast<ast::ModelClause>(&node))
      found |= llvm::any_of(clause->instances, [&](auto &instance) { return instance.name.text == name; });
    return !found;
  });
  return found;
}

std::optional<Value> ExpectEvaluator::modelOf(const std::shared_ptr<RunResult> &run, const std::string &name, Span span) {
  if (!run->request || !hasModel(*run->request->decl, name) || run->measures(name))
    return std::nullopt;
  if (run->isSketch)
    return Value();
  ModelsOfRun &made = models[run];
  if (!made.clauses) {
    made.clauses = std::make_unique<TrainElaborator>(e);
    made.scope = made.clauses->modelsOf(*run->request);
    auto tree = run->tree(true);
    auto whole = e.tensor(Value(tree, span), span);
    made.tree = whole ? std::make_shared<Value>(*whole, span) : nullptr;
  }
  Binding *binding = made.scope ? made.scope->find(name) : nullptr;
  auto *instance = binding ? binding->value.as<std::shared_ptr<Instance>>() : nullptr;
  if (!instance || !made.tree)
    return Value();
  auto kept = std::make_shared<Instance>(**instance);
  kept->at = made.tree;
  return Value(kept, span);
}

} // namespace dyn::elab
