//===- Pipelines.h - from nd to machine code ------------------------------===//
//
// The order of all passes below nd, in one place. In a program:
//
//   auto target = TargetOptions::host();
//   FailureOr<std::string> object = compileToObject(module, plan, target);
//
// Stages, for `dync emit --stage=`: "nd" as it comes in, "fused" once array ops
// are kernels, "kernels" once every array has its place, "llvm" in the end.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_PASSES_PIPELINE_PIPELINES_H
#define DYN_PASSES_PIPELINE_PIPELINES_H

#include "runtime/Plan.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/LogicalResult.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace dyn {

/// What code is made for.
struct TargetOptions {
  std::string triple, cpu, features;
  int64_t vectorBytes = 16; ///< full width of a vector register

  /// This machine.
  static TargetOptions host();
  /// Everything here that decides what the object holds; part of a cache key.
  std::string text() const;
};

/// Sees the module at a stage.
using StageHook = std::function<void(llvm::StringRef stage, mlir::ModuleOp module)>;

/// Milliseconds of each step, in order.
using Timings = std::vector<std::pair<std::string, double>>;

/// Lowers a module of the nd stage to the LLVM dialect. The plan gets the work arena (the last one), the products and
/// the sites of indices and loops. On failure an error was emitted.
[[nodiscard]] mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module, plan::Plan &plan, const TargetOptions &target,
                                              const StageHook &hook = {}, Timings *timings = nullptr);

/// The same, then machine code: an ELF object that exports `void name(DynContext *)` for each function and program.
[[nodiscard]] mlir::FailureOr<std::string> compileToObject(mlir::ModuleOp module, plan::Plan &plan,
                                                           const TargetOptions &target, const StageHook &hook = {},
                                                           Timings *timings = nullptr);

/// Dialects and translations that the pipeline needs beside those of the input.
void registerPipelineDialects(mlir::DialectRegistry &registry);
/// Named pipelines for dyn-opt: dyn-to-fused, dyn-to-kernels, dyn-to-llvm.
void registerPipelines();

} // namespace dyn

#endif // DYN_PASSES_PIPELINE_PIPELINES_H
