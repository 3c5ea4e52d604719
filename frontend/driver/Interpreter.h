//===- Interpreter.h - the nd stage of a program, run plainly ---*- C++ -*-===//
//
// `dync run --interpret`: every function by the plain evaluator, the loop by
// walking run.program, effects through the same runtime as compiled code.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/Nd/NdEval.h"
#include "runtime/Session.h"

#include "mlir/IR/BuiltinOps.h"

namespace dyn {

class Interpreter {
public:
  /// `module` is at the nd stage and outlives this.
  explicit Interpreter(mlir::ModuleOp module) : module(module) {}

  EntryLookup lookup();
  /// Sees every op's results; set to look for the first that is not finite.
  std::function<llvm::LogicalResult(mlir::Operation *, llvm::ArrayRef<nd::NdArray>)> observe;
  /// Runs one function on a context.
  void call(llvm::StringRef name, DynContext *ctx);

private:
  void program(mlir::Block &block, DynContext *ctx);
  llvm::FailureOr<nd::NdArrays> effect(mlir::Operation *op, llvm::ArrayRef<nd::NdArray> operands, DynContext *ctx);

  mlir::ModuleOp module;
};

} // namespace dyn
