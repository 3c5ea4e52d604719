//===- Passes.h - passes of the phase memory ----------------------------===//
#ifndef DYN_PASSES_MEMORY_PASSES_H
#define DYN_PASSES_MEMORY_PASSES_H

#include "dialects/Kernel/KernelOps.h"
#include "dialects/Nd/NdOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace dyn::memory {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/memory/Passes.h.inc"
} // namespace dyn::memory

#endif // DYN_PASSES_MEMORY_PASSES_H
