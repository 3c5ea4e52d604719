//===- RunLlvmPasses.h - LLVM's own passes over a module ------------------===//
#ifndef DYN_PASSES_RUNLLVMPASSES_H
#define DYN_PASSES_RUNLLVMPASSES_H

#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

namespace dyn {

/// Runs the passes that `choose` makes, with the analyses of `machine`.
inline void runLlvmPasses(llvm::Module &module, llvm::TargetMachine &machine,
                          llvm::function_ref<llvm::ModulePassManager(llvm::PassBuilder &)> choose) {
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
  choose(builder).run(module, modules);
}

} // namespace dyn

#endif // DYN_PASSES_RUNLLVMPASSES_H
