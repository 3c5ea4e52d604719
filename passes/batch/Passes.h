//===- Passes.h - passes of the phase `batch` ----------------------------===//
#ifndef DYN_PASSES_BATCH_PASSES_H
#define DYN_PASSES_BATCH_PASSES_H

#include "dialects/Nd/NdOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dyn {
#define GEN_PASS_DECL
#include "passes/batch/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/batch/Passes.h.inc"
} // namespace dyn

#endif // DYN_PASSES_BATCH_PASSES_H
