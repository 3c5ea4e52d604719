//===- Checker.cpp - what elaboration refuses, and the plan of a train ----===//
#include "frontend/driver/Checker.h"

#include "frontend/AstWalk.h"
#include "frontend/elaborate/ExpectEvaluator.h"
#include "frontend/elaborate/TrainElaborator.h"

#include "llvm/ADT/STLExtras.h"

#include <cstdio>

namespace dyn {

//===----------------------------------------------------------------------===//
// Plans in words
//===----------------------------------------------------------------------===//

namespace {

std::string bytesText(int64_t bytes) {
  char text[40];
  if (bytes < 10'000)
    std::snprintf(text, sizeof text, "%lld B", static_cast<long long>(bytes));
  else if (bytes < 10'000'000)
    std::snprintf(text, sizeof text, "%.1f kB", double(bytes) / 1e3);
  else
    std::snprintf(text, sizeof text, "%.1f MB", double(bytes) / 1e6);
  return text;
}

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return shape.empty() ? "real" : text + "]";
}

/// How many kernels and products a program has, counted where they are formed.
struct KernelCount {
  int64_t kernels = 0, products = 0;
};

void printPlan(const plan::Plan &plan, const std::string &run, const KernelCount &count) {
  int64_t parameters = 0, peak = 0;
  for (const plan::Leaf &leaf : plan.params) {
    int64_t size = 1;
    for (int64_t extent : leaf.shape)
      size *= extent;
    parameters += size;
  }
  std::printf("train %s%s\n", plan.name.c_str(), run.empty() ? "" : (", as run by `" + run + "`").c_str());
  std::printf("  steps       %lld", static_cast<long long>(plan.total));
  bool isEndless = !plan.feeds.empty() && plan.sources[static_cast<size_t>(plan.sets.front().source)].isEndless();
  if (isEndless)
    std::printf(", batch %lld of a stream", static_cast<long long>(plan.feeds[0].batch));
  else if (!plan.feeds.empty())
    std::printf(", batch %lld of %lld rows%s%s", static_cast<long long>(plan.feeds[0].batch),
                static_cast<long long>(plan.sets[static_cast<size_t>(plan.feeds[0].set)].examples()),
                plan.feeds[0].shuffle ? ", shuffled" : "", plan.feeds[0].drop ? ", short last batch left out" : "");
  std::printf("\n  precision   %s\n", plan.precision == plan::Element::f64 ? "f64" : "f32");
  std::printf("  parameters  %lld in %zu leaves\n", static_cast<long long>(parameters), plan.params.size());
  for (const plan::Leaf &leaf : plan.params)
    std::printf("    %-28s %-14s %s\n", leaf.path.c_str(), shapeText(leaf.shape).c_str(),
                leaf.owner.empty() ? "frozen" : leaf.owner.c_str());
  std::map<std::string, int64_t> byRole;
  for (const plan::Arena &arena : plan.arenas) {
    byRole[arena.role] += arena.bytes;
    peak += arena.bytes;
  }
  std::printf("  memory      %s at most:", bytesText(peak).c_str());
  for (auto &[role, bytes] : byRole)
    std::printf(" %s %s", role.c_str(), bytesText(bytes).c_str());
  std::printf("\n  kernels     %lld fused loops, %lld products\n", static_cast<long long>(count.kernels),
              static_cast<long long>(count.products));
  if (!plan.metrics.empty()) {
    std::printf("  metrics    ");
    for (const plan::Metric &metric : plan.metrics)
      std::printf(" %s", metric.name.c_str());
    std::printf("\n");
  }
}

/// The declarations that some names, and what they name in turn.
std::set<const ast::Decl *> reachable(std::vector<const ast::Decl *> from, const Library &library) {
  std::set<const ast::Decl *> found;
  while (!from.empty()) {
    const ast::Decl *decl = from.back();
    from.pop_back();
    if (!found.insert(decl).second)
      continue;
    ast::walk(*decl, [&](const ast::Node &node) {
      auto *name = ast::dynCast<ast::NameExpr>(&node);
      if (const ast::Decl *named = name ? library.find(name->name) : nullptr)
        from.push_back(named);
      return true;
    });
  }
  return found;
}

} // namespace

//===----------------------------------------------------------------------===//
// Checker
//===----------------------------------------------------------------------===//

void Checker::check(const ast::Program &program) {
  checkTrains(program);
  if (diags.hasErrors())
    return;
  // What a train uses was checked where it stands: a probe may name what only that train has.
  std::set<const ast::Decl *> used = reachable({seen.begin(), seen.end()}, library);
  for (auto &decl : program.declarations)
    if (!used.count(decl.get()))
      checkAlone(*decl);
}

void Checker::check(const ast::Decl &decl) {
  if (auto *train = ast::dynCast<ast::TrainDecl>(&decl)) {
    if (llvm::all_of(train->parameters.items, [](auto &p) { return p.init != nullptr; }))
      (void)checkTrain(requestOf(*train));
    else
      checkWithSamples(*train);
  } else if (auto *experiment = ast::dynCast<ast::ExperimentDecl>(&decl))
    checkExperiment(*experiment);
  else
    checkAlone(decl);
}

/// Every train by its defaults, as the experiments of the file run it, or else with values made up.
void Checker::checkTrains(const ast::Program &program) {
  std::vector<const ast::TrainDecl *> open;
  for (auto &decl : program.declarations) {
    auto *train = ast::dynCast<ast::TrainDecl>(decl.get());
    if (!train)
      continue;
    if (llvm::all_of(train->parameters.items, [](auto &p) { return p.init != nullptr; }))
      checkTrain(requestOf(*train));
    else
      open.push_back(train);
  }
  for (auto &decl : program.declarations)
    if (auto *experiment = ast::dynCast<ast::ExperimentDecl>(decl.get()))
      checkExperiment(*experiment);
  for (const ast::TrainDecl *train : open)
    if (!seen.count(train))
      checkWithSamples(*train);
}

elab::TrainRequest Checker::requestOf(const ast::TrainDecl &train) {
  elab::TrainRequest request;
  request.decl = &train;
  return request;
}

void Checker::checkExperiment(const ast::ExperimentDecl &experiment) {
  elab::ExpectEvaluator evaluator(context, diags, library, globals);
  auto sweep = [&](const elab::SweepRequest &request) { return checkSweep(request); };
  evaluator.check(experiment, {[&](const elab::TrainRequest &request) { return checkTrain(request); }, sweep});
}

static void printSweep(const elab::SweepRequest &request, size_t programs, int64_t steps) {
  std::printf("sweep %s\n  members     %zu:", request.name.c_str(), request.members.size());
  for (const elab::Axis &axis : request.axes) {
    std::printf("%s %s in [", &axis == &request.axes.front() ? "" : ",", axis.name.c_str());
    for (int64_t i = 0; i < axis.size(); ++i)
      std::printf("%s%s", i ? ", " : "", axis.label(i).c_str());
    std::printf("]");
  }
  std::printf("\n  programs    %zu\n  steps       %lld in all\n", programs, static_cast<long long>(steps));
}

/// Members with the same number of a variant differ in their seeds, and are elaborated once.
std::vector<std::shared_ptr<elab::RunResult>> Checker::checkSweep(const elab::SweepRequest &request) {
  struct Variant {
    std::shared_ptr<elab::RunResult> sketch;
    int64_t steps = 0;
  };
  std::map<size_t, Variant> variants;
  std::vector<std::shared_ptr<elab::RunResult>> members;
  std::set<std::string> programs;
  int64_t steps = 0;
  for (size_t i = 0; i < request.members.size(); ++i) {
    auto [variant, isNew] = variants.try_emplace(request.variants[i]);
    if (isNew) {
      variant->second = {checkTrain(request.members[i]), 0};
      variant->second.steps = lastSteps;
      programs.insert(lastProgram);
    }
    if (!variant->second.sketch)
      return {};
    members.push_back(variant->second.sketch);
    steps += variant->second.steps;
  }
  if (!isQuiet)
    printSweep(request, programs.size(), steps);
  return members;
}

/// Elaborates a train, and prints the first plan of each; null after errors, else its metrics by name.
std::shared_ptr<elab::RunResult> Checker::checkTrain(const elab::TrainRequest &request) {
  seen.insert(request.decl);
  // Errors of other trains do not cut this one short, and one that several runs meet is said once.
  DiagnosticEngine mine(sources);
  auto elaborated = elaborate(request, mine);
  diags.adopt(mine);
  if (!elaborated)
    return nullptr;
  lastProgram = programText(*elaborated->module);
  lastSteps = elaborated->plan.total;
  if (!isQuiet && planned.insert(request.decl).second)
    printPlan(*elaborated, *request.decl);
  auto sketch = std::make_shared<elab::RunResult>();
  sketch->name = elaborated->plan.name;
  sketch->isSketch = true;
  for (const plan::Metric &metric : elaborated->plan.metrics) {
    auto series = elab::seriesOf(metric);
    series->isSketch = true;
    sketch->series[metric.name] = series;
  }
  for (const plan::Leaf &leaf : elaborated->plan.params)
    sketch->leaves.emplace_back(leaf.path, elab::Value());
  for (const plan::Leaf &state : elaborated->plan.ruleStates)
    sketch->ruleStates.emplace_back(state.path, elab::Value());
  for (auto &[name, binding] : elaborated->scope->names)
    if (auto *number = binding.value.as<elab::Const>())
      sketch->hyperparameters[name] = number->number;
  return sketch;
}

std::unique_ptr<elab::Elaborated> Checker::elaborate(const elab::TrainRequest &request, DiagnosticEngine &to) {
  elab::Elaborator elaborator(context, to, library, globals);
  elab::TrainElaborator trainElaborator(elaborator);
  auto elaborated = trainElaborator.run(request);
  bool good = elaborated && lowerToNd(*elaborated->module, to) && !to.hasErrors();
  return good ? std::move(elaborated) : nullptr;
}

void Checker::printPlan(elab::Elaborated &elaborated, const ast::TrainDecl &train) {
  KernelCount count;
  PassErrors errors(context, diags);
  auto counting = [&](llvm::StringRef stage, mlir::ModuleOp module) {
    if (stage == "fused")
      module.walk([&](mlir::Operation *op) {
        llvm::StringRef name = op->getName().getStringRef();
        count.kernels += name == "kernel.fused";
        count.products += name == "kernel.product";
      });
  };
  plan::Plan plan = elaborated.plan;
  std::string run = plan.name == train.name.text ? "" : plan.name;
  plan.name = train.name.text;
  if (mlir::failed(lowerToLLVM(*elaborated.module, plan, Target::cpu(), counting)))
    return;
  dyn::printPlan(plan, run, count);
  printSchedules(elaborated);
}

void Checker::printSchedules(const elab::Elaborated &elaborated) {
  const plan::Plan &plan = elaborated.plan;
  if (elaborated.schedules.empty() || plan.total < 1)
    return;
  elab::ExpectEvaluator evaluator(context, diags, library, globals);
  int64_t last = plan.total - 1, perEpoch = 0;
  if (!plan.feeds.empty() && !plan.sources[static_cast<size_t>(plan.sets.front().source)].isEndless()) {
    const plan::Feed &feed = plan.feeds[0];
    int64_t rows = plan.sets[static_cast<size_t>(feed.set)].examples();
    perEpoch = feed.drop ? rows / feed.batch : (rows + feed.batch - 1) / feed.batch;
  }
  std::set<int64_t> moments = {0, std::min<int64_t>(1, last), plan.total / 10, plan.total / 2, last};
  std::printf("  schedules   %-16s", "step");
  for (int64_t step : moments)
    std::printf(" %10lld", static_cast<long long>(step));
  std::printf("\n");
  for (const elab::ScheduledNumber &number : elaborated.schedules) {
    std::printf("    %-26s", number.name.c_str());
    for (int64_t step : moments)
      if (auto value = evaluator.scheduled(number.schedule, step, plan.total, perEpoch ? step / perEpoch : 0))
        std::printf(" %10.4g", *value);
    std::printf("\n");
  }
}

/// Arguments made up for what has no default; nothing when one cannot be.
std::optional<elab::TrainRequest> Checker::sampleRequest(const ast::TrainDecl &train, int number) {
  elab::TrainRequest request = requestOf(train);
  elab::ExpectEvaluator evaluator(context, diags, library, globals);
  for (auto &[name, text] : sampleArguments(train.parameters, number)) {
    const ast::Expr *expr = text.empty() ? nullptr : samples.addValue(text, sources, diags);
    auto value = expr ? evaluator.value(*expr) : std::nullopt;
    if (!value)
      return std::nullopt;
    request.arguments.emplace_back(name, *value);
  }
  return request;
}

/// A train that nothing in the file runs. A size that is made up may be the wrong one, so several are tried, and only
/// what is refused at all of them is reported.
void Checker::checkWithSamples(const ast::TrainDecl &train) {
  for (int number : sampleNumbers) {
    auto request = sampleRequest(train, number);
    if (!request) {
      // Said, so that nobody takes silence for a check.
      if (!isQuiet)
        std::printf("train %s\n  not elaborated: nothing runs it, and not all its arguments can be made up\n",
                    train.name.text.c_str());
      return;
    }
    DiagnosticEngine quiet(sources);
    if (elaborate(*request, quiet))
      return (void)checkTrain(*request);
  }
  InstantiationScope chain(diags, "`" + train.name.text + "` with sample arguments", train.name.span);
  (void)checkTrain(*sampleRequest(train, sampleNumbers[0]));
}

bool Checker::elaborateAlone(const ast::Decl &decl, const SampleSizes &sizes, DiagnosticEngine &to) {
  const ast::TrainDecl *train = samples.add(*sampleTrain(decl, sizes), sources, to);
  if (!train || to.hasErrors())
    return false;
  SampleLibrary both(library, samples);
  elab::TrainRequest request;
  request.decl = train;
  request.checkBounds = true;
  elab::Elaborator elaborator(context, to, both, globals);
  elab::TrainElaborator trainElaborator(elaborator);
  auto elaborated = trainElaborator.run(request);
  return elaborated && lowerToNd(*elaborated->module, to) && !to.hasErrors();
}

/// A declaration that no train here uses is elaborated in a small train of its own. Sizes that are made up may be the
/// wrong ones: what is refused at all of them is reported, in the words of the first.
void Checker::checkAlone(const ast::Decl &decl) {
  if (!sampleTrain(decl, sampleSizes[0]))
    return;
  DiagnosticEngine first(sources);
  if (elaborateAlone(decl, sampleSizes[0], first))
    return diags.adopt(first); // warnings
  for (const SampleSizes &sizes : llvm::drop_begin(sampleSizes)) {
    DiagnosticEngine other(sources);
    if (elaborateAlone(decl, sizes, other))
      return diags.adopt(other);
  }
  diags.adopt(first);
}

} // namespace dyn
