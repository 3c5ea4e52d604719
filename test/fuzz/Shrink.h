//===- Shrink.h - the least of a failing program ----------------*- C++ -*-===//
#ifndef DYN_TEST_FUZZ_SHRINK_H
#define DYN_TEST_FUZZ_SHRINK_H

#include "mlir/IR/BuiltinOps.h"

namespace dyn::fuzz {

/// The module with results, ops and arguments left out as long as `fails` holds: none of them can be left out alone.
mlir::OwningOpRef<mlir::ModuleOp> shrink(mlir::ModuleOp module, llvm::function_ref<bool(mlir::ModuleOp)> fails);

} // namespace dyn::fuzz

#endif // DYN_TEST_FUZZ_SHRINK_H
