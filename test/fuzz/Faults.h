//===- Faults.h - mistakes that the fuzzer must find ------------*- C++ -*-===//
//
// Each is one row wrong, as a person would get it wrong. The compiler has no
// switches for them: rules of ops are function pointers of a context, of which
// a test has its own; folds are patterns, to which wrong ones are added;
// lowerings see the module at every stage, where it is changed between them.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_TEST_FUZZ_FAULTS_H
#define DYN_TEST_FUZZ_FAULTS_H

#include "Oracles.h"

#include "mlir/IR/MLIRContext.h"

namespace dyn::fuzz {

struct Fault {
  const char *kind; ///< derivative, batching, lowering, fold
  const char *oracle; ///< by name: the one that is to find it
  const char *what; ///< the mistake, in words
  /// Makes it in a context that no other test uses, and in a toolchain.
  void (*plant)(mlir::MLIRContext &context, Toolchain &toolchain);
};

const std::vector<Fault> &faults();

} // namespace dyn::fuzz

#endif // DYN_TEST_FUZZ_FAULTS_H
