#include "frontend/driver/Compile.h"

#include "passes/RegisterAll.h"
#include "passes/expand/Passes.h"
#include "passes/gpu/Passes.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/raw_ostream.h"

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

Span spanOf(Location loc, const SourceManager &sources) {
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

/// Refusals that only a pass can find: how they begin, and what a user can do.
namespace {
struct Finding {
  llvm::StringRef begins;
  Diag diag;
  const char *help;
};
} // namespace
static const Finding findings[] = {
    {"the loss has no derivative here: ", Diag::no_derivative,
     "`stop_gradient(…)` around it says that a derivative of zero is meant"},
    {"no derivative here: ", Diag::no_derivative_passes,
     "`stop_gradient(…)` around it says that a derivative of zero is meant"},
    {gpu::noCode, Diag::no_device_code, "the target `cpu`, without `--target`, has code for it"},
    {"the loss does not depend on `", Diag::loss_ignores, "use it in the loss, or declare it `frozen` in place of `param`"},
};

static void reportFinding(llvm::StringRef text, Span span, DiagnosticEngine &diags) {
  for (const Finding &finding : findings) {
    llvm::StringRef rest = text;
    if (!rest.consume_front(finding.begins))
      continue;
    if (finding.diag == Diag::loss_ignores)
      rest = rest.take_until([](char c) { return c == '`'; });
    diags.report(finding.diag, span, rest.str()).help(finding.help);
    return;
  }
  diags.report(Diag::from_passes, span, text.str()).help("please report it with this program");
}

PassErrors::PassErrors(MLIRContext &context, DiagnosticEngine &diags) : context(context) {
  id = context.getDiagEngine().registerHandler([&diags](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return success();
    reportFinding(diagnostic.str(), spanOf(diagnostic.getLocation(), diags.sources()), diags);
    return success();
  });
}

PassErrors::~PassErrors() { context.getDiagEngine().eraseHandler(id); }

bool lowerToNd(ModuleOp module, DiagnosticEngine &diags, const StageHook &hook, Timings *timings) {
  PassErrors errors(*module.getContext(), diags);
  size_t before = diags.errorCount();
  auto step = [&](llvm::StringRef name, llvm::function_ref<void(OpPassManager &)> add) {
    return succeeded(runStage(module, name, timings, add)) && diags.errorCount() == before;
  };
  if (hook)
    hook("dyn", module);
  bool good = step("batch", [](OpPassManager &pm) { pm.addPass(expand::createBatchExamplePass()); }) &&
              step("differentiate", [](OpPassManager &pm) { pm.addPass(expand::createExpandGradientsPass()); }) &&
              step("expand", [](OpPassManager &pm) {
                pm.addPass(expand::createExpandLeavesPass());
                pm.addNestedPass<func::FuncOp>(expand::createMergeReadsPass());
                pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
                pm.addNestedPass<func::FuncOp>(createCSEPass());
              });
  if (good && hook)
    hook("nd", module);
  return good;
}

std::string programText(ModuleOp module, bool withPlaces) {
  OwningOpRef<ModuleOp> nameless = module.clone();
  nameless->walk([](run::NumberOp number) { number.setName(""); });
  std::string text;
  llvm::raw_string_ostream stream(text);
  nameless->print(stream, OpPrintingFlags().useLocalScope().enableDebugInfo(withPlaces));
  return text;
}

plan::Plan mergePlans(plan::Plan fresh, plan::Plan compiled) {
  for (size_t i = fresh.arenas.size(); i < compiled.arenas.size(); ++i)
    fresh.arenas.push_back(compiled.arenas[i]);
  for (size_t i = fresh.sites.size(); i < compiled.sites.size(); ++i)
    fresh.sites.push_back(compiled.sites[i]);
  fresh.products = compiled.products;
  fresh.parts = compiled.parts;
  return fresh;
}

std::optional<Program> compileNd(ModuleOp module, const plan::Plan &plan, ObjectCache *cache, DiagnosticEngine &diags,
                                 const StageHook &hook, Timings *timings, const Target &target) {
  PassErrors errors(*module.getContext(), diags);
  CacheKey key;
  if (cache) {
    // Arena sizes and shapes are in the text; numbers of the plan are not.
    key = cacheKeyOf("nd\n" + target.text() + "\n" + std::to_string(plan.arenas.size()) + "\n" +
                     programText(module, target.namesPlaces));
    if (auto entry = cache->load(key)) {
      plan::Plan compiled;
      std::string why;
      if (plan::fromJson(entry->planJson, compiled, why))
        return Program{mergePlans(plan, compiled), std::move(entry->object), true};
    }
  }
  Program program{plan, "", false};
  size_t before = diags.errorCount();
  UnitStore store;
  std::vector<std::pair<CacheKey, CacheEntry>> made;
  if (cache) {
    store.find = [&](const std::string &content) -> std::optional<std::string> {
      auto entry = cache->load(cacheKeyOf("unit\n" + content));
      return entry ? std::optional(std::move(entry->object)) : std::nullopt;
    };
    store.keep = [&](const std::string &content, const std::string &object) {
      made.push_back({cacheKeyOf("unit\n" + content), {"", object}});
    };
  }
  auto object = compileToUnits(module, program.plan, target, store, program.units, hook, timings);
  if (failed(object) || diags.errorCount() != before)
    return std::nullopt;
  program.object = std::move(*object);
  if (cache) {
    made.push_back({key, {plan::toJson(program.plan), program.object}});
    cache->store(made);
  }
  return program;
}

} // namespace dyn
