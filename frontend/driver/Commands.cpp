#include "frontend/driver/Commands.h"

#include "frontend/Library.h"
#include "frontend/driver/Compile.h"
#include "frontend/driver/Samples.h"
#include "frontend/elaborate/ExpectEvaluator.h"
#include "frontend/elaborate/TrainElaborator.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <iostream>
#include <set>

namespace dyn {
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
  if (!plan.feeds.empty())
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

class Checker {
public:
  Checker() : diags(sources), library(sources, diags), globals(std::make_shared<elab::Scope>()) {}

  int run(const std::string &file) {
    if (const ast::Program *program = library.open(file)) {
      context = makeContext();
      checkTrains(*program);
      if (!diags.hasErrors())
        for (auto &decl : program->declarations)
          checkAlone(*decl);
    }
    if (!diags.all().empty())
      std::cerr << diags.render() << std::flush;
    return diags.hasErrors() ? 1 : 0;
  }

private:
  /// Every train by its defaults, as the experiments of the file run it, or else with values made up.
  void checkTrains(const ast::Program &program) {
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

  static elab::TrainRequest requestOf(const ast::TrainDecl &train) {
    elab::TrainRequest request;
    request.decl = &train;
    return request;
  }

  void checkExperiment(const ast::ExperimentDecl &experiment) {
    elab::ExpectEvaluator evaluator(*context, diags, library, globals);
    evaluator.check(experiment, [&](const elab::TrainRequest &request) { return checkTrain(request); });
  }

  /// Elaborates a train, and prints the first plan of each; null after errors, else its metrics by name.
  std::shared_ptr<elab::RunResult> checkTrain(const elab::TrainRequest &request) {
    seen.insert(request.decl);
    // Errors of other trains do not cut this one short, and one that several runs meet is said once.
    DiagnosticEngine mine(sources);
    auto elaborated = elaborate(request, mine);
    diags.adopt(mine);
    if (!elaborated)
      return nullptr;
    if (planned.insert(request.decl).second)
      printPlan(*elaborated, *request.decl);
    auto sketch = std::make_shared<elab::RunResult>();
    sketch->name = elaborated->plan.name;
    sketch->isSketch = true;
    for (const plan::Metric &metric : elaborated->plan.metrics)
      sketch->series[metric.name] = nullptr;
    for (const plan::Leaf &leaf : elaborated->plan.params)
      sketch->leaves[leaf.path] = elab::Value();
    for (auto &[name, binding] : elaborated->scope->names)
      if (auto *number = binding.value.as<elab::Const>())
        sketch->hyperparameters[name] = number->number;
    return sketch;
  }

  std::unique_ptr<elab::Elaborated> elaborate(const elab::TrainRequest &request, DiagnosticEngine &to) {
    elab::Elaborator elaborator(*context, to, library, globals);
    elab::TrainElaborator trainElaborator(elaborator);
    auto elaborated = trainElaborator.run(request);
    bool good = elaborated && lowerToNd(*elaborated->module, to) && !to.hasErrors();
    return good ? std::move(elaborated) : nullptr;
  }

  void printPlan(elab::Elaborated &elaborated, const ast::TrainDecl &train) {
    KernelCount count;
    PassErrors errors(*context, diags);
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

  void printSchedules(const elab::Elaborated &elaborated) {
    const plan::Plan &plan = elaborated.plan;
    if (elaborated.schedules.empty() || plan.total < 1)
      return;
    elab::ExpectEvaluator evaluator(*context, diags, library, globals);
    int64_t last = plan.total - 1, perEpoch = 0;
    if (!plan.feeds.empty()) {
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
  std::optional<elab::TrainRequest> sampleRequest(const ast::TrainDecl &train, int number) {
    elab::TrainRequest request = requestOf(train);
    elab::ExpectEvaluator evaluator(*context, diags, library, globals);
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
  void checkWithSamples(const ast::TrainDecl &train) {
    for (int number : sampleNumbers) {
      auto request = sampleRequest(train, number);
      if (!request) {
        // Said, so that nobody takes silence for a check.
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

  /// A declaration that no train here uses is elaborated in a small train of its own.
  void checkAlone(const ast::Decl &decl) {
    auto text = sampleTrain(decl);
    if (!text)
      return;
    const ast::TrainDecl *train = samples.add(*text, sources, diags);
    if (train && !diags.hasErrors()) {
      SampleLibrary both(library, samples);
      elab::TrainRequest request;
      request.decl = train;
      request.checkBounds = true;
      elab::Elaborator elaborator(*context, diags, both, globals);
      elab::TrainElaborator trainElaborator(elaborator);
      auto elaborated = trainElaborator.run(request);
      if (elaborated)
        (void)lowerToNd(*elaborated->module, diags);
    }
  }

  SourceManager sources;
  DiagnosticEngine diags;
  SpecLibrary library;
  Samples samples;
  std::unique_ptr<mlir::MLIRContext> context;
  elab::ScopePtr globals;
  std::set<const ast::TrainDecl *> seen;    ///< that were elaborated
  std::set<const ast::TrainDecl *> planned; ///< whose plan was printed
};

} // namespace

int runCheck(const std::vector<std::string> &files) {
  int status = 0;
  for (const std::string &file : files)
    status = std::max(status, Checker().run(file));
  return status;
}

/// The target of the options, if it goes through their stage; null after a report. Stages above nd are everybody's.
static const Target *targetWithStage(const EmitOptions &options, DiagnosticEngine &diags) {
  const Target *target = Target::find(options.target);
  if (options.stage == "dyn" || options.stage == "nd" || target->hasStage(options.stage))
    return target;
  std::string stages, others;
  for (const Phase &phase : target->phases)
    stages += ", " + phase.stage;
  for (const Target &other : Target::all())
    if (other.hasStage(options.stage))
      others += (others.empty() ? "`--target=" : " or `--target=") + other.name + "`";
  auto message = diags.report(Diag::no_stage, Span(), options.target, options.stage, "dyn, nd" + stages);
  if (!others.empty())
    message.help(others + " has it");
  return nullptr;
}

int runEmit(const EmitOptions &options) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  SpecLibrary library(sources, diags);
  Samples samples;
  auto globals = std::make_shared<elab::Scope>();
  auto finish = [&](int status) {
    if (!diags.all().empty())
      std::cerr << diags.render() << std::flush;
    return diags.hasErrors() ? 1 : status;
  };
  const Target *target = targetWithStage(options, diags);
  const ast::Program *program = target ? library.open(options.file) : nullptr;
  if (!program)
    return finish(1);
  const ast::TrainDecl *train = nullptr;
  if (!options.rule.empty()) {
    auto text = sampleForRule(options.rule, library);
    if (!text) {
      diags.report(Diag::rule_form, Span(), options.rule);
      return finish(1);
    }
    train = samples.add(*text, sources, diags);
  } else
    for (auto &decl : program->declarations)
      if (auto *candidate = ast::dynCast<ast::TrainDecl>(decl.get()))
        if (!train && (options.name.empty() || candidate->name.text == options.name))
          train = candidate;
  if (!train) {
    if (!diags.hasErrors())
      diags.report(Diag::nothing_to_run, Span(), "`" + options.file + "` has no train" + (options.name.empty() ? "" : " `" + options.name + "`"));
    return finish(1);
  }
  auto context = makeContext();
  SampleLibrary both(library, samples);
  elab::TrainRequest request;
  request.decl = train;
  request.gradientsGiven = !options.rule.empty();
  elab::Elaborator elaborator(*context, diags, both, globals);
  elab::TrainElaborator trainElaborator(elaborator);
  auto elaborated = trainElaborator.run(request);
  if (!elaborated)
    return finish(1);
  bool printed = false;
  StageHook hook = [&](llvm::StringRef stage, mlir::ModuleOp module) {
    if (stage != options.stage || printed)
      return;
    printed = true;
    printStage(module, llvm::outs());
    llvm::outs().flush();
  };
  if (!lowerToNd(*elaborated->module, diags, hook))
    return finish(1);
  if (!printed) {
    PassErrors errors(*context, diags);
    plan::Plan plan = elaborated->plan;
    if (mlir::failed(lowerToLLVM(*elaborated->module, plan, *target, hook)))
      return finish(1);
  }
  return finish(0);
}

} // namespace dyn
