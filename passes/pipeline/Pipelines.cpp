//===- Pipelines.cpp - from nd to the LLVM dialect ------------------------===//
#include "passes/pipeline/Pipelines.h"

#include "dialects/Kernel/KernelOps.h"
#include "dialects/Nd/NdOps.h"
#include "dialects/Run/RunOps.h"
#include "passes/contract/Passes.h"
#include "passes/fuse/Passes.h"
#include "passes/lower/Passes.h"
#include "passes/memory/Passes.h"
#include "passes/verify/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

#include <chrono>

using namespace mlir;

namespace dyn {
namespace {

//===----------------------------------------------------------------------===//
// The passes, in order
//===----------------------------------------------------------------------===//

/// nd: one way to say each thing.
void addCleaning(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
}

/// nd -> fused: contractions become products or plain loops, then everything becomes kernels.
void addFusion(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(fuse::createSettleDerivativesPass());
  addCleaning(pm);
  pm.addNestedPass<func::FuncOp>(contract::createNormalizeContractionsPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  pm.addNestedPass<func::FuncOp>(fuse::createFuseKernelsPass());
  pm.addNestedPass<func::FuncOp>(verify::createVerifyFusedPass());
}

/// fused -> kernels: every array gets its place.
void addMemory(OpPassManager &pm) {
  pm.addPass(memory::createPlanMemoryPass());
  pm.addNestedPass<func::FuncOp>(verify::createVerifyPlacesPass());
}

/// kernels -> llvm: loops over vectors, then branches, then LLVM's own ops.
void addLowering(OpPassManager &pm, int64_t vectorBytes) {
  lower::LowerKernelsPassOptions options;
  options.vectorBytes = vectorBytes;
  pm.addPass(lower::createLowerKernelsPass(options));
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

//===----------------------------------------------------------------------===//
// What the plan and the module tell each other
//===----------------------------------------------------------------------===//

std::string describe(Location loc) {
  if (auto file = dyn_cast<FileLineColLoc>(loc))
    return file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn());
  if (auto name = dyn_cast<NameLoc>(loc))
    return describe(name.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(loc); fused && !fused.getLocations().empty())
    return describe(fused.getLocations().front());
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return describe(call.getCallee());
  return "";
}

/// Numbers the ops that can fail beside guards; an op keeps a `site` that it has.
void addSites(ModuleOp module, plan::Plan &plan) {
  Builder builder(module.getContext());
  module.walk([&](Operation *op) {
    if (!isa<nd::GatherOp, nd::ScatterOp, nd::WhileOp>(op) || op->hasAttr("site"))
      return;
    op->setAttr("site", builder.getI64IntegerAttr(plan.sites.size()));
    bool loop = isa<nd::WhileOp>(op);
    auto name = dyn_cast<NameLoc>(op->getLoc());
    plan.sites.push_back({loop ? "while" : "index", name ? name.getName().str() : "", describe(op->getLoc())});
  });
}

void announceNumbers(ModuleOp module, const plan::Plan &plan) {
  Builder builder(module.getContext());
  module->setAttr("kernel.work_arena", builder.getI64IntegerAttr(plan.arenas.size()));
  module->setAttr("kernel.product_base", builder.getI64IntegerAttr(plan.products.size()));
}

void completePlan(ModuleOp module, plan::Plan &plan) {
  if (auto bytes = module->getAttrOfType<IntegerAttr>("kernel.work_bytes"))
    plan.arenas.push_back({"work", "work", bytes.getInt()});
  if (auto products = module->getAttrOfType<ArrayAttr>("kernel.products")) {
    for (Attribute attribute : products) {
      ArrayRef<int64_t> row = cast<DenseI64ArrayAttr>(attribute).asArrayRef();
      plan.products.push_back({row[0] == 0 ? plan::Element::f32 : plan::Element::f64, row[1], row[2], row[3], row[4],
                               row[5] != 0, row[6] != 0, false});
    }
  }
  for (StringRef name : {"kernel.work_arena", "kernel.work_bytes", "kernel.product_base", "kernel.products"})
    module->removeAttr(name);
}

/// Runs some of the passes and notes the time under a name.
LogicalResult step(ModuleOp module, StringRef name, Timings *timings, llvm::function_ref<void(OpPassManager &)> add) {
  auto start = std::chrono::steady_clock::now();
  PassManager pm(module.getContext());
  add(pm);
  LogicalResult result = pm.run(module);
  if (timings)
    timings->push_back(
        {name.str(), std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count()});
  return result;
}

} // namespace

LogicalResult lowerToLLVM(ModuleOp module, plan::Plan &plan, const TargetOptions &target, const StageHook &hook,
                          Timings *timings) {
  auto show = [&](StringRef stage) {
    if (hook)
      hook(stage, module);
  };
  show("nd");
  addSites(module, plan);
  announceNumbers(module, plan);
  if (failed(step(module, "fuse", timings, addFusion)))
    return failure();
  show("fused");
  if (failed(step(module, "memory", timings, addMemory)))
    return failure();
  show("kernels");
  if (failed(step(module, "lower", timings, [&](OpPassManager &pm) { addLowering(pm, target.vectorBytes); })))
    return failure();
  completePlan(module, plan);
  show("llvm");
  return success();
}

void registerPipelineDialects(DialectRegistry &registry) {
  registry
      .insert<kernel::KernelDialect, nd::NdDialect, run::RunDialect, func::FuncDialect, arith::ArithDialect,
              math::MathDialect, scf::SCFDialect, cf::ControlFlowDialect, vector::VectorDialect, LLVM::LLVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

void registerPipelines() {
  static PassPipelineRegistration<> fused("dyn-to-fused", "nd to fused kernels", addFusion);
  static PassPipelineRegistration<> kernels("dyn-to-kernels", "nd to kernels with places", [](OpPassManager &pm) {
    addFusion(pm);
    addMemory(pm);
  });
  static PassPipelineRegistration<> llvm("dyn-to-llvm", "nd to the LLVM dialect", [](OpPassManager &pm) {
    addFusion(pm);
    addMemory(pm);
    addLowering(pm, TargetOptions::host().vectorBytes);
  });
}

} // namespace dyn
