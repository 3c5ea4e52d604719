//===- Passes.h - passes of the phase gpu ---------------------------------===//
#ifndef DYN_PASSES_GPU_PASSES_H
#define DYN_PASSES_GPU_PASSES_H

#include "dialects/Kernel/KernelOps.h"
#include "dialects/Nd/NdOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

namespace dyn::gpu {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/gpu/Passes.h.inc"

/// How errors of `map-kernels` begin; what follows names the construct in the words of the language.
constexpr llvm::StringLiteral noCode = "no code for a device: ";
} // namespace dyn::gpu

#endif // DYN_PASSES_GPU_PASSES_H
