//===- Oracles.h - what must hold for every function of nd ------*- C++ -*-===//
//
// Each oracle computes the same numbers in two ways. They share a Toolchain:
// the parts of the compiler under test, whole or with a planted fault.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_TEST_FUZZ_ORACLES_H
#define DYN_TEST_FUZZ_ORACLES_H

#include "passes/pipeline/Pipelines.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

#include <functional>
#include <string>
#include <vector>

namespace dyn::fuzz {

/// What the compiler has beside the tables of its context; a fault adds to it.
struct Toolchain {
  std::function<void(mlir::RewritePatternSet &)> morePatterns; ///< canonicalize with these too
  StageHook stageHook;                                         ///< sees, and may change, compiled modules by stage
};

/// How a program may be wrong; the name is what a report begins with.
struct Oracle {
  const char *name;
  /// What is wrong with @f of a module, which is left as it was; empty if nothing is.
  std::string (*check)(mlir::ModuleOp module, uint64_t seed, const Toolchain &toolchain);
};

/// All of them, the quickest first:
///   evaluates   the plain evaluator gives finite numbers
///   canonical   the canonical form has the same values
///   reverse     gradients agree with central differences
///   forward     directional derivatives agree with gradients, at kinks too
///   batched     a batch is a loop over its rows
///   compiled    compiled values and gradients are the evaluator's, at one and at three threads alike
const std::vector<Oracle> &oracles();

} // namespace dyn::fuzz

#endif // DYN_TEST_FUZZ_ORACLES_H
