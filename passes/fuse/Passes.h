//===- Passes.h - passes of the phase fuse ----------------------------===//
#ifndef DYN_PASSES_FUSE_PASSES_H
#define DYN_PASSES_FUSE_PASSES_H

#include "dialects/Kernel/KernelOps.h"
#include "dialects/Nd/NdOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace dyn::fuse {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/fuse/Passes.h.inc"
} // namespace dyn::fuse

#endif // DYN_PASSES_FUSE_PASSES_H
