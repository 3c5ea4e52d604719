//===- Passes.h - passes of the phase lower -------------------------------===//
#ifndef DYN_PASSES_LOWER_PASSES_H
#define DYN_PASSES_LOWER_PASSES_H

#include "dialects/Kernel/KernelOps.h"
#include "dialects/Nd/NdOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

namespace dyn::lower {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/lower/Passes.h.inc"
} // namespace dyn::lower

#endif // DYN_PASSES_LOWER_PASSES_H
