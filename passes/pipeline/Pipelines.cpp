//===- Pipelines.cpp - from nd to the LLVM dialect ------------------------===//
#include "passes/pipeline/Pipelines.h"

#include "dialects/Kernel/KernelOps.h"
#include "dialects/Nd/NdLibraryOps.h"
#include "dialects/Run/RunOps.h"
#include "passes/gpu/Passes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

using namespace mlir;

namespace dyn {
namespace {

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
    auto call = dyn_cast<nd::LibraryCall>(op);
    bool fails = call ? call.canFail() : isa<nd::GatherOp, nd::ScatterOp, nd::WhileOp>(op);
    if (!fails || op->hasAttr("site"))
      return;
    op->setAttr("site", builder.getI64IntegerAttr(plan.sites.size()));
    bool loop = isa<nd::WhileOp>(op);
    auto name = dyn_cast<NameLoc>(op->getLoc());
    plan.sites.push_back({loop ? "while" : call ? "matrix" : "index", name ? name.getName().str() : "", describe(op->getLoc())});
  });
}

void announceNumbers(ModuleOp module, const plan::Plan &plan) {
  Builder builder(module.getContext());
  module->setAttr("kernel.work_arena", builder.getI64IntegerAttr(plan.arenas.size()));
  module->setAttr("kernel.product_base", builder.getI64IntegerAttr(plan.products.size()));
  auto names = llvm::map_to_vector(plan.metrics, [](const plan::Metric &metric) { return StringRef(metric.name); });
  module->setAttr("kernel.metric_names", builder.getStrArrayAttr(names));
}

plan::Part readPart(DictionaryAttr row) {
  plan::Part part;
  part.kind = row.getAs<StringAttr>("kind").str();
  part.what = row.getAs<StringAttr>("what").str();
  for (auto place : row.getAs<ArrayAttr>("spec").getAsRange<StringAttr>())
    part.spec.push_back(place.str());
  part.parent = row.getAs<IntegerAttr>("parent").getInt();
  part.bytes = row.getAs<IntegerAttr>("bytes").getInt();
  part.flops = row.getAs<IntegerAttr>("flops").getInt();
  part.shared = row.getAs<BoolAttr>("shared").getValue();
  return part;
}

void completePlan(ModuleOp module, plan::Plan &plan) {
  if (auto bytes = module->getAttrOfType<IntegerAttr>("kernel.work_bytes"))
    plan.arenas.push_back({"work", "work", bytes.getInt()});
  if (auto products = module->getAttrOfType<ArrayAttr>("kernel.products")) {
    for (Attribute attribute : products) {
      ArrayRef<int64_t> row = cast<DenseI64ArrayAttr>(attribute).asArrayRef();
      plan.products.push_back({row[0] == 0 ? plan::Element::f32 : plan::Element::f64, row[1], row[2], row[3], row[4],
                               row[5] != 0, row[6] != 0, row.drop_front(7).vec()});
    }
  }
  if (auto parts = module->getAttrOfType<ArrayAttr>("kernel.parts"))
    for (auto part : parts.getAsRange<DictionaryAttr>())
      plan.parts.push_back(readPart(part));
  for (StringRef name : {"kernel.work_arena", "kernel.work_bytes", "kernel.product_base", "kernel.products",
                         "kernel.parts", "kernel.metric_names"})
    module->removeAttr(name);
}

} // namespace

LogicalResult lowerToLLVM(ModuleOp module, plan::Plan &plan, const Target &target, const StageHook &hook,
                          Timings *timings) {
  auto show = [&](StringRef stage) {
    if (hook && !stage.empty())
      hook(stage, module);
  };
  show("nd");
  addSites(module, plan);
  announceNumbers(module, plan);
  for (const Phase &phase : target.phases) {
    if (failed(runStage(module, phase.name, timings, phase.add)))
      return failure();
    if (&phase == &target.phases.back())
      completePlan(module, plan);
    show(phase.stage);
  }
  return success();
}

void printStage(ModuleOp module, llvm::raw_ostream &to) {
  auto binaries = module.getOps<mlir::gpu::BinaryOp>();
  for (mlir::gpu::BinaryOp binary : binaries)
    to << cast<mlir::gpu::ObjectAttr>(binary.getObjects()[0]).getObject().getValue();
  if (binaries.empty()) {
    module.print(to);
    to << "\n";
  }
}

void registerPipelineDialects(DialectRegistry &registry) {
  registry.insert<kernel::KernelDialect, nd::NdDialect, run::RunDialect, func::FuncDialect, arith::ArithDialect,
                  math::MathDialect, scf::SCFDialect, cf::ControlFlowDialect, vector::VectorDialect, LLVM::LLVMDialect,
                  mlir::gpu::GPUDialect, NVVM::NVVMDialect, memref::MemRefDialect>();
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

void registerPipelines() {
  static std::vector<std::unique_ptr<PassPipelineRegistration<>>> pipelines;
  if (!pipelines.empty())
    return;
  // From nd down to each stage of each target; `dyn-to-STAGE` alone is the host's.
  for (const Target &target : Target::all()) {
    std::string prefix = &target == &Target::cpu() ? "dyn-to-" : "dyn-" + target.name + "-to-";
    for (const Phase &last : target.phases)
      pipelines.push_back(std::make_unique<PassPipelineRegistration<>>(
          prefix + last.stage, "nd to the stage `" + last.stage + "` of " + target.name, [&](OpPassManager &pm) {
            for (const Phase &phase : target.phases) {
              phase.add(pm);
              if (&phase == &last)
                break;
            }
          }));
  }
}

} // namespace dyn
