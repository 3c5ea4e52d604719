//===- WritePtx.cpp - from NVVM to PTX ------------------------------------===//
#include "passes/RunLlvmPasses.h"
#include "passes/gpu/Passes.h"

#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

namespace dyn::gpu {
#define GEN_PASS_DEF_WRITEPTXPASS
#include "passes/gpu/Passes.h.inc"
} // namespace dyn::gpu

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

using namespace mlir;

namespace dyn::gpu {
namespace {

constexpr StringLiteral triple = "nvptx64-nvidia-cuda";
/// The oldest version of PTX that knows sm_90; drivers from 12.0 on read it.
constexpr StringLiteral features = "+ptx80";

std::unique_ptr<llvm::TargetMachine> makeMachine(StringRef chip, std::string &why) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  llvm::Triple parsed(triple);
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(parsed, why);
  if (!found)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict; // what is to be contracted is an fma by now
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(
      parsed, chip, features, options, std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

FailureOr<std::string> ptxOf(mlir::gpu::GPUModuleOp kernels, StringRef chip) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(kernels, context, kernels.getName());
  if (!code)
    return kernels.emitError("cannot be written as LLVM IR");
  std::string why;
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine(chip, why);
  if (!machine)
    return kernels.emitError("no code generator for ") << chip << ": " << why;
  code->setDataLayout(machine->createDataLayout());
  code->setTargetTriple(llvm::Triple(triple));
  runLlvmPasses(*code, *machine, [](llvm::PassBuilder &builder) {
    return builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2);
  });
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return kernels.emitError("the code generator writes no PTX");
  passes.run(*code);
  return std::string(text);
}

struct WritePtx : impl::WritePtxPassBase<WritePtx> {
  using WritePtxPassBase::WritePtxPassBase;

  void runOnOperation() override {
    for (auto kernels : llvm::make_early_inc_range(getOperation().getOps<mlir::gpu::GPUModuleOp>())) {
      FailureOr<std::string> text = ptxOf(kernels, chip);
      if (failed(text))
        return signalPassFailure();
      OpBuilder b(kernels);
      auto target = NVVM::NVVMTargetAttr::get(b.getContext(), /*optLevel=*/2, triple, chip, features);
      Attribute object = mlir::gpu::ObjectAttr::get(target, mlir::gpu::CompilationTarget::Assembly, b.getStringAttr(*text));
      mlir::gpu::BinaryOp::create(b, kernels.getLoc(), kernels.getName(), /*offloadingHandler=*/Attribute(),
                                  ArrayRef<Attribute>{object});
      kernels.erase();
    }
  }
};

} // namespace
} // namespace dyn::gpu
