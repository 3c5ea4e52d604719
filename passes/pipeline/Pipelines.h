//===- Pipelines.h - from nd to machine code ------------------------------===//
//
// The order of all passes below nd, in one place. In a program:
//
//   FailureOr<std::string> object = compileToObject(module, plan, Target::cpu());
//
// Stages, for `dync emit --stage=`: "nd" as it comes in, "fused" once array ops
// are kernels, "kernels" once every array has its place, "llvm" in the end. A
// target may have more (passes/pipeline/Target.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef DYN_PASSES_PIPELINE_PIPELINES_H
#define DYN_PASSES_PIPELINE_PIPELINES_H

#include "passes/pipeline/Target.h"
#include "passes/pipeline/Timings.h"
#include "runtime/Plan.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/LogicalResult.h"

#include <functional>
#include <optional>
#include <string>

namespace llvm {
class Module;
}

namespace dyn {

/// Sees the module at a stage.
using StageHook = std::function<void(llvm::StringRef stage, mlir::ModuleOp module)>;

/// Sees the code before it is optimized; whoever makes more than an object for the JIT adds to it here.
using CodeHook = std::function<void(llvm::Module &code)>;

/// Lowers a module of the nd stage to the LLVM dialect. The plan gets the work arena (the last one), the products and
/// the sites of indices and loops. On failure an error was emitted.
[[nodiscard]] mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module, plan::Plan &plan, const Target &target,
                                              const StageHook &hook = {}, Timings *timings = nullptr);

/// The same, then machine code: an ELF object that exports `void name(DynContext *)` for each function and program.
[[nodiscard]] mlir::FailureOr<std::string> compileToObject(mlir::ModuleOp module, plan::Plan &plan,
                                                           const Target &target, const StageHook &hook = {},
                                                           Timings *timings = nullptr, const CodeHook &finish = {});

/// Where objects of units are kept, by what they were made from. Empty functions: nowhere.
struct UnitStore {
  std::function<std::optional<std::string>(const std::string &content)> find;
  std::function<void(const std::string &content, const std::string &object)> keep; ///< one that was made
};
struct UnitCounts {
  int generated = 0, kept = 0;
};

/// The same as an archive of objects, one a unit (passes/pipeline/Units.h): those that the store has are not made again.
/// Units are compiled on two threads.
[[nodiscard]] mlir::FailureOr<std::string> compileToUnits(mlir::ModuleOp module, plan::Plan &plan, const Target &target,
                                                          const UnitStore &store, UnitCounts &counts,
                                                          const StageHook &hook = {}, Timings *timings = nullptr);

/// Prints the module as it is at a stage: of one that became text (PTX), the text.
void printStage(mlir::ModuleOp module, llvm::raw_ostream &to);

/// Dialects and translations that the pipeline needs beside those of the input.
void registerPipelineDialects(mlir::DialectRegistry &registry);
/// Named pipelines for dyn-opt: dyn-to-fused, dyn-to-kernels, dyn-to-llvm, dyn-sm_90-to-gpu and so on.
void registerPipelines();

} // namespace dyn

#endif // DYN_PASSES_PIPELINE_PIPELINES_H
