//===- CodeGen.cpp - from the LLVM dialect to an object file --------------===//
//
// Loops arrive as vectors; LLVM cleans up, selects and schedules.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/Pipelines.h"

#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include <mutex>

using namespace mlir;

namespace dyn {
namespace {

void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

std::unique_ptr<llvm::TargetMachine> makeMachine(const TargetOptions &target, std::string &why) {
  initializeTargets();
  llvm::Triple triple(target.triple);
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, why);
  if (!found)
    return nullptr;
  llvm::TargetOptions options;
  // Small: constants are then operands of the instructions that use them, and need no register through a loop. What is
  // farther away than 2 GiB, the runtime, is called by way of the linker's table.
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(
      triple, target.cpu, target.features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      llvm::CodeGenOptLevel::Less, /*JIT=*/true));
}

/// What O2 does beyond this (inlining, vectorizing, unrolling, interprocedural work) has nothing to find here: loops
/// arrive as vectors, kernels are called through pointers, and hoisting is mostly done. It took twice the time for the
/// same code speed.
void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::FunctionPassManager each;
  each.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  each.addPass(llvm::InstCombinePass());
  each.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager inLoops;
  inLoops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  each.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(inLoops), /*UseMemorySSA=*/true));
  each.addPass(llvm::GVNPass());
  each.addPass(llvm::InstCombinePass());
  each.addPass(llvm::SimplifyCFGPass());
  llvm::ModulePassManager all;
  all.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(each)));
  all.run(module, modules);
}

} // namespace

TargetOptions TargetOptions::host() {
  TargetOptions target;
  target.triple = llvm::sys::getProcessTriple();
  target.cpu = llvm::sys::getHostCPUName().str();
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  std::vector<std::string> names;
  for (const auto &feature : features)
    names.push_back((feature.getValue() ? "+" : "-") + feature.getKey().str());
  llvm::sort(names); // a map of strings has no order of its own
  target.features = llvm::join(names, ",");
  if (features.lookup("avx512f") && features.lookup("avx512vl"))
    target.vectorBytes = 64;
  else if (features.lookup("avx2"))
    target.vectorBytes = 32;
  return target;
}

std::optional<TargetOptions> TargetOptions::named(StringRef cpu) {
  if (cpu == "native")
    return host();
  initializeTargets();
  TargetOptions target;
  target.triple = llvm::sys::getProcessTriple();
  std::string why;
  llvm::Triple triple(target.triple);
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, why);
  std::unique_ptr<llvm::MCSubtargetInfo> plain(found ? found->createMCSubtargetInfo(triple, "", "") : nullptr);
  if (!plain || !plain->isCPUStringValid(cpu))
    return std::nullopt;
  target.cpu = cpu.str();
  std::unique_ptr<llvm::MCSubtargetInfo> info(found->createMCSubtargetInfo(triple, cpu, ""));
  if (info->checkFeatures("+avx512f,+avx512vl"))
    target.vectorBytes = 64;
  else if (info->checkFeatures("+avx2"))
    target.vectorBytes = 32;
  return target;
}

std::string TargetOptions::text() const {
  return triple + " " + cpu + " " + features + " " + std::to_string(vectorBytes);
}

FailureOr<std::string> compileToObject(ModuleOp module, plan::Plan &plan, const Target &made, const StageHook &hook,
                                       Timings *timings, const CodeHook &finish) {
  if (failed(lowerToLLVM(module, plan, made, hook, timings)))
    return failure();
  const TargetOptions &target = made.host;
  Stopwatch watch;
  auto note = [&](const char *stage) {
    if (timings)
      timings->push_back({stage, watch.lap()});
  };
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context, "dyn");
  if (!code)
    return module.emitError("cannot be written as LLVM IR");
  std::string why;
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine(target, why);
  if (!machine)
    return module.emitError("no code generator for ") << target.triple << ": " << why;
  code->setDataLayout(machine->createDataLayout());
  code->setTargetTriple(llvm::Triple(target.triple));
  if (finish)
    finish(*code);
  for (llvm::Function &function : *code) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("prefer-vector-width", std::to_string(target.vectorBytes * 8));
    function.addFnAttr("target-cpu", target.cpu);
    function.addFnAttr("target-features", target.features);
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  note("translate");
  optimize(*code, *machine);
  note("llvm optimize");
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile,
                                   /*DisableVerify=*/true))
    return module.emitError("the code generator writes no objects");
  passes.run(*code);
  note("llvm codegen");
  return std::string(object.data(), object.size());
}

} // namespace dyn
