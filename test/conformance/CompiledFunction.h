//===- CompiledFunction.h - a function of nd as native code -----*- C++ -*-===//
//
// For comparisons with the plain evaluator: @f becomes a function of effects
// (arguments are read from arenas, results written to arenas) and is compiled
// by the pipeline of every program.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_TEST_CONFORMANCE_COMPILEDFUNCTION_H
#define DYN_TEST_CONFORMANCE_COMPILEDFUNCTION_H

#include "dialects/Nd/NdEval.h"
#include "passes/pipeline/Pipelines.h"
#include "runtime/jit/Jit.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dyn::conformance {

/// Hooks of an evaluator that draws what compiled code draws when all seeds are 0.
nd::EvalHooks runtimeDraws();

class CompiledFunction {
public:
  /// Compiles @f of the module, which is consumed, for these arguments and results of the shapes and types of
  /// `expected`. Each result has an arena of its own, or (`inPlace`) that of an argument of its type, which loses its
  /// elements while they may still be in use. Nothing on failure: then `why` says what happened.
  static std::optional<CompiledFunction> make(mlir::ModuleOp module, llvm::ArrayRef<nd::NdArray> arguments,
                                              llvm::ArrayRef<nd::NdArray> expected, bool inPlace,
                                              const StageHook &hook, std::string &why);

  /// The results, by that many threads; nothing (and why) when the code stopped.
  std::optional<std::vector<nd::NdArray>> call(int threads, std::string &why) const;

private:
  CompiledFunction() = default;

  plan::Plan plan;
  std::unique_ptr<Jit> jit;
  std::vector<std::vector<char>> inputs;
  std::vector<nd::NdArray> expected;
  std::vector<int64_t> targets; ///< arena of each result
};

} // namespace dyn::conformance

#endif // DYN_TEST_CONFORMANCE_COMPILEDFUNCTION_H
