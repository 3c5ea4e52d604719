//===- Passes.h - passes of the phase verify ----------------------------===//
#ifndef DYN_PASSES_VERIFY_PASSES_H
#define DYN_PASSES_VERIFY_PASSES_H

#include "dialects/Kernel/KernelOps.h"
#include "dialects/Nd/NdOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace dyn::verify {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/verify/Passes.h.inc"
} // namespace dyn::verify

#endif // DYN_PASSES_VERIFY_PASSES_H
