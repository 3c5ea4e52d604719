//===- Target.cpp - the lists of passes -----------------------------------===//
#include "passes/pipeline/Target.h"

#include "passes/contract/Passes.h"
#include "passes/fuse/Passes.h"
#include "passes/gpu/Passes.h"
#include "passes/lower/Passes.h"
#include "passes/memory/Passes.h"
#include "passes/verify/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Transforms/Passes.h"

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
  pm.addNestedPass<func::FuncOp>(fuse::createHoistInvariantsPass());
  addCleaning(pm);
  pm.addNestedPass<func::FuncOp>(contract::createReassociatePass());
  addCleaning(pm);
  pm.addNestedPass<func::FuncOp>(contract::createNormalizeContractionsPass());
  pm.addNestedPass<func::FuncOp>(contract::createCallLibraryPass());
  pm.addNestedPass<func::FuncOp>(fuse::createMultiplyByReciprocalsPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  pm.addNestedPass<func::FuncOp>(fuse::createFuseKernelsPass());
  pm.addNestedPass<func::FuncOp>(verify::createVerifyFusedPass());
}

/// fused -> kernels: every array gets its place.
void addMemory(OpPassManager &pm) {
  pm.addPass(memory::createPlanMemoryPass());
  pm.addNestedPass<func::FuncOp>(verify::createVerifyPlacesPass());
}

/// kernels -> loops over vectors on the host, and what is around them.
void addLoops(OpPassManager &pm, int64_t vectorBytes) {
  lower::LowerKernelsPassOptions options;
  options.vectorBytes = vectorBytes;
  pm.addPass(lower::createLowerKernelsPass(options));
}

/// Branches, then LLVM's own ops.
void addHost(OpPassManager &pm) {
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

/// What a profile takes the time of.
void addParts(OpPassManager &pm, int64_t vectorBytes) {
  lower::PlanPartsPassOptions options;
  options.vectorBytes = vectorBytes;
  pm.addPass(lower::createPlanPartsPass(options));
}

/// kernels -> kernels of a device.
void addMapping(OpPassManager &pm, int64_t vectorBytes) {
  gpu::MapKernelsPassOptions options;
  options.vectorBytes = vectorBytes;
  pm.addPass(gpu::createMapKernelsPass(options));
}

/// Kernels of a device -> NVVM. Functions first: what MLIR finds of `math` at the end would call NVIDIA's library.
void addNvvm(OpPassManager &pm) {
  OpPassManager &device = pm.nest<mlir::gpu::GPUModuleOp>();
  device.addPass(createSCFToControlFlowPass());
  device.addPass(createConvertMathToLLVMPass());
  device.addPass(gpu::createConvertKernelsPass());
  device.addPass(createReconcileUnrealizedCastsPass());
}

/// NVVM -> PTX, which the host's code carries.
void addPtx(OpPassManager &pm, const std::string &chip) {
  gpu::WritePtxPassOptions options;
  options.chip = chip;
  pm.addPass(gpu::createWritePtxPass(options));
}

//===----------------------------------------------------------------------===//
// The targets
//===----------------------------------------------------------------------===//

std::vector<Phase> commonPhases() { return {{"fuse", "fused", addFusion}, {"memory", "kernels", addMemory}}; }

/// Sums on a device have the order of the host's code: both know its vectors.
Phase mapping(const TargetOptions &host) {
  return {"map", "gpu", [width = host.vectorBytes](OpPassManager &pm) { addMapping(pm, width); }};
}

Target makeCpu(TargetOptions processor) {
  Target target{"cpu", std::move(processor), commonPhases()};
  target.phases.push_back({"lower", "llvm", [width = target.host.vectorBytes](OpPassManager &pm) {
                             addLoops(pm, width);
                             addHost(pm);
                           }});
  return target;
}

Target makeNvidia(const std::string &chip) {
  Target target{chip, TargetOptions::host(), commonPhases()};
  target.phases.push_back(mapping(target.host));
  target.phases.push_back({"nvvm", "nvvm", addNvvm});
  target.phases.push_back({"ptx", "ptx", [chip](OpPassManager &pm) { addPtx(pm, chip); }});
  target.phases.push_back({"lower", "llvm", [width = target.host.vectorBytes](OpPassManager &pm) {
                             addLoops(pm, width);
                             pm.addPass(gpu::createLaunchOnDevicePass());
                             addHost(pm);
                           }});
  return target;
}

} // namespace

bool Target::hasStage(StringRef stage) const {
  return llvm::any_of(phases, [&](const Phase &phase) { return phase.stage == stage; });
}

ArrayRef<Target> Target::all() {
  static const std::vector<Target> targets = {makeCpu(TargetOptions::host()), makeNvidia("sm_80"), makeNvidia("sm_90")};
  return targets;
}

const Target &Target::cpu() { return all().front(); }
Target Target::cpu(TargetOptions processor) { return makeCpu(std::move(processor)); }

const Target &Target::profiled() {
  static const Target target = [] {
    Target made = cpu();
    made.name = "cpu, profiled";
    made.namesPlaces = true;
    auto lower = llvm::find_if(made.phases, [](const Phase &phase) { return phase.name == "lower"; });
    made.phases.insert(lower,
                       {"profile", "", [width = made.host.vectorBytes](OpPassManager &pm) { addParts(pm, width); }});
    return made;
  }();
  return target;
}

const Target *Target::find(StringRef name) {
  auto *found = llvm::find_if(all(), [&](const Target &target) { return target.name == name; });
  return found == all().end() ? nullptr : found;
}

Target Target::emulated() {
  Target target{"emulated", TargetOptions::host(), commonPhases()};
  target.phases.push_back(mapping(target.host));
  target.phases.push_back({"lower", "llvm", [width = target.host.vectorBytes](OpPassManager &pm) {
                             addLoops(pm, width);
                             pm.addPass(gpu::createEmulateLaunchesPass());
                             pm.addPass(createSCFToControlFlowPass());
                             pm.addPass(createFinalizeMemRefToLLVMConversionPass());
                             addHost(pm);
                           }});
  return target;
}

} // namespace dyn
