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
bool emitStage(const elab::TrainRequest &request, const std::string &stage, mlir::MLIRContext &context,
               const Library &library, elab::ScopePtr globals, DiagnosticEngine &diags,
               const Target &target) {
  elab::Elaborator elaborator(context, diags, library, std::move(globals));
  auto elaborated = elab::TrainElaborator(elaborator).run(request);
  if (!elaborated)
    return false;
  bool printed = false;
  StageHook hook = [&](llvm::StringRef name, mlir::ModuleOp module) {
    if (name != stage || printed)
      return;
    printed = true;
    printStage(module, llvm::outs());
    llvm::outs().flush();
  };
  if (!lowerToNd(*elaborated->module, diags, hook))
    return false;
  if (printed)
    return true;
  PassErrors errors(context, diags);
  plan::Plan plan = elaborated->plan;
  return mlir::succeeded(lowerToLLVM(*elaborated->module, plan, target, hook)) && !diags.hasErrors();
}

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
  return finish(emitStage(request, options.stage, *context, both, globals, diags, *target) ? 0 : 1);
}

} // namespace dyn
