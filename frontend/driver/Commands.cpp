#include "frontend/driver/Commands.h"

#include "frontend/Library.h"
#include "frontend/driver/Compile.h"
#include "frontend/driver/Samples.h"
#include "frontend/elaborate/TrainElaborator.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <iostream>

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

void printPlan(const plan::Plan &plan, const KernelCount &count) {
  int64_t parameters = 0, peak = 0;
  for (const plan::Leaf &leaf : plan.params) {
    int64_t size = 1;
    for (int64_t extent : leaf.shape)
      size *= extent;
    parameters += size;
  }
  std::printf("train %s\n", plan.name.c_str());
  std::printf("  steps       %lld", static_cast<long long>(plan.total));
  if (!plan.feeds.empty())
    std::printf(", batch %lld of %lld rows%s%s", static_cast<long long>(plan.feeds[0].batch),
                static_cast<long long>(plan.sets[static_cast<size_t>(plan.feeds[0].set)].rows),
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
    const ast::Program *program = library.open(file);
    if (program)
      for (auto &decl : program->declarations)
        if (auto *train = ast::dynCast<ast::TrainDecl>(decl.get());
            train && llvm::all_of(train->parameters.items, [](auto &p) { return p.init != nullptr; }))
          checkTrain(*train);
    if (program && !diags.hasErrors())
      for (auto &decl : program->declarations)
        checkAlone(*decl);
    if (!diags.all().empty())
      std::cerr << diags.render() << std::flush;
    return diags.hasErrors() ? 1 : 0;
  }

private:
  void checkTrain(const ast::TrainDecl &train) {
    if (!context)
      context = makeContext();
    elab::TrainRequest request;
    request.decl = &train;
    elab::Elaborator elaborator(*context, diags, library, globals);
    elab::TrainElaborator trainElaborator(elaborator);
    auto elaborated = trainElaborator.run(request);
    if (!elaborated || !lowerToNd(*elaborated->module, diags))
      return;
    KernelCount count;
    PassErrors errors(*context, diags);
    auto counting = [&](llvm::StringRef stage, mlir::ModuleOp module) {
      if (stage == "fused")
        module.walk([&](mlir::Operation *op) {
          llvm::StringRef name = op->getName().getStringRef();
          count.kernels += name == "kernel.kernel" || name == "kernel.loop";
          count.products += name == "kernel.product";
        });
    };
    plan::Plan plan = elaborated->plan;
    if (mlir::succeeded(lowerToLLVM(*elaborated->module, plan, TargetOptions::host(), counting)))
      printPlan(plan, count);
  }

  /// A declaration that no train here uses is elaborated in a small train of its own.
  void checkAlone(const ast::Decl &decl) {
    auto text = sampleTrain(decl);
    if (!text)
      return;
    const ast::TrainDecl *train = samples.add(*text, sources, diags);
    if (train && !diags.hasErrors()) {
      SampleLibrary both(library, samples);
      if (!context)
        context = makeContext();
      elab::TrainRequest request;
      request.decl = train;
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
};

} // namespace

int runCheck(const std::vector<std::string> &files) {
  int status = 0;
  for (const std::string &file : files)
    status = std::max(status, Checker().run(file));
  return status;
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
  const ast::Program *program = library.open(options.file);
  if (!program)
    return finish(1);
  const ast::TrainDecl *train = nullptr;
  if (!options.rule.empty()) {
    auto text = sampleForRule(options.rule);
    if (!text) {
      std::cerr << "error: `--rule` takes a rule and a shape, as in 'adamw on [64, 32]', not `" << options.rule << "` [E0617]\n";
      return 1;
    }
    train = samples.add(*text, sources, diags);
  } else
    for (auto &decl : program->declarations)
      if (auto *candidate = ast::dynCast<ast::TrainDecl>(decl.get()))
        if (!train && (options.name.empty() || candidate->name.text == options.name))
          train = candidate;
  if (!train) {
    if (!diags.hasErrors())
      std::cerr << options.file << ": error: there is no train" << (options.name.empty() ? "" : " `" + options.name + "`") << " [E0609]\n";
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
    module.print(llvm::outs());
    llvm::outs() << "\n";
  };
  if (!lowerToNd(*elaborated->module, diags, hook))
    return finish(1);
  if (!printed) {
    PassErrors errors(*context, diags);
    plan::Plan plan = elaborated->plan;
    if (mlir::failed(lowerToLLVM(*elaborated->module, plan, TargetOptions::host(), hook)))
      return finish(1);
  }
  return finish(0);
}

} // namespace dyn
