//===- RandomProgram.h - random functions over all of nd --------*- C++ -*-===//
//
// What samples of single ops do not reach: rules that meet. A program is a
// function @f of some tens of ops, loops, branches and draws among them, over
// shapes of a small pool (so that values meet), and each of its values is kept
// near 1 (so that rounding does not grow). Program k of a seed is always the
// same.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_TEST_FUZZ_RANDOMPROGRAM_H
#define DYN_TEST_FUZZ_RANDOMPROGRAM_H

#include "dialects/Nd/NdArray.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace dyn::fuzz {

/// A module with @f: arguments and results of f64, differentiable from every result to every argument it depends on.
mlir::OwningOpRef<mlir::ModuleOp> makeRandomProgram(mlir::MLIRContext &context, uint64_t seed, uint64_t index);

/// Arguments for a function: reals between -1.5 and 1.5 that depend on the seed and the argument's place.
std::vector<nd::NdArray> makeInputs(mlir::func::FuncOp function, uint64_t seed);

} // namespace dyn::fuzz

#endif // DYN_TEST_FUZZ_RANDOMPROGRAM_H
