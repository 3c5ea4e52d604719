//===- Passes.h - passes of the phase contract ----------------------------===//
#ifndef DYN_PASSES_CONTRACT_PASSES_H
#define DYN_PASSES_CONTRACT_PASSES_H

#include "dialects/Kernel/KernelOps.h"
#include "dialects/Nd/NdOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace dyn::contract {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/contract/Passes.h.inc"
} // namespace dyn::contract

#endif // DYN_PASSES_CONTRACT_PASSES_H
