#include "frontend/driver/Compile.h"

#include "passes/RegisterAll.h"
#include "passes/expand/Passes.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace mlir;

namespace dyn {

std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registerAllDynDialects(registry);
  registerPipelineDialects(registry);
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadDialect<ir::DynDialect, nd::NdDialect, run::RunDialect, func::FuncDialect>();
  return context;
}

/// The span of a location that came from a spec.
static Span spanOf(Location loc, const SourceManager &sources) {
  Span span;
  loc->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    for (FileId id = 1; const SourceFile *source = sources.file(id); ++id)
      if (source->path() == file.getFilename().getValue() && file.getLine() <= source->lineCount()) {
        uint32_t begin = source->lineBegin(file.getLine());
        std::string_view line = source->line(file.getLine());
        uint32_t column = std::min<uint32_t>(file.getColumn() - 1, static_cast<uint32_t>(line.size()));
        span = {id, begin + column, begin + column + 1};
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return span;
}

PassErrors::PassErrors(MLIRContext &context, DiagnosticEngine &diags) : context(context) {
  id = context.getDiagEngine().registerHandler([&diags](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return success();
    diags.report(Diag::from_passes, spanOf(diagnostic.getLocation(), diags.sources()), diagnostic.str());
    return success();
  });
}

PassErrors::~PassErrors() { context.getDiagEngine().eraseHandler(id); }

bool lowerToNd(ModuleOp module, DiagnosticEngine &diags, const StageHook &hook, Timings *timings) {
  PassErrors errors(*module.getContext(), diags);
  auto step = [&](llvm::StringRef name, auto &&add) {
    auto start = std::chrono::steady_clock::now();
    PassManager pm(module.getContext());
    add(pm);
    bool good = succeeded(pm.run(module));
    if (timings)
      timings->push_back({name.str(), std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count()});
    return good && !diags.hasErrors();
  };
  if (hook)
    hook("dyn", module);
  bool good = step("batch", [](PassManager &pm) { pm.addPass(expand::createBatchExamplePass()); }) &&
              step("differentiate", [](PassManager &pm) { pm.addPass(expand::createExpandGradientsPass()); }) &&
              step("expand", [](PassManager &pm) {
                pm.addPass(expand::createExpandLeavesPass());
                pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
                pm.addNestedPass<func::FuncOp>(createCSEPass());
              });
  if (good && hook)
    hook("nd", module);
  return good;
}

/// The module without places of the spec: moving a line is no other program.
static std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().useLocalScope());
  return text;
}

/// What compilation added to a cached plan, put beside what this spec says of numbers, names and places.
static plan::Plan mergePlans(plan::Plan fresh, plan::Plan compiled) {
  for (size_t i = fresh.arenas.size(); i < compiled.arenas.size(); ++i)
    fresh.arenas.push_back(compiled.arenas[i]);
  for (size_t i = fresh.sites.size(); i < compiled.sites.size(); ++i)
    fresh.sites.push_back(compiled.sites[i]);
  fresh.products = compiled.products;
  return fresh;
}

std::optional<Program> compileNd(ModuleOp module, const plan::Plan &plan, ObjectCache *cache, DiagnosticEngine &diags,
                                 const StageHook &hook, Timings *timings) {
  PassErrors errors(*module.getContext(), diags);
  TargetOptions target = TargetOptions::host();
  CacheKey key;
  if (cache) {
    // Arena sizes and shapes are in the text; numbers of the plan are not.
    key = cacheKeyOf("nd\n" + target.text() + "\n" + std::to_string(plan.arenas.size()) + "\n" + textOf(module));
    if (auto entry = cache->load(key)) {
      plan::Plan compiled;
      std::string why;
      if (plan::fromJson(entry->planJson, compiled, why))
        return Program{mergePlans(plan, compiled), std::move(entry->object), true};
    }
  }
  Program program{plan, "", false};
  auto object = compileToObject(module, program.plan, target, hook, timings);
  if (failed(object) || diags.hasErrors())
    return std::nullopt;
  program.object = std::move(*object);
  if (cache)
    cache->store(key, {plan::toJson(program.plan), program.object});
  return program;
}

} // namespace dyn
