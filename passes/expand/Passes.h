//===- Passes.h - passes of the phase `expand` ----------------------------===//
#ifndef DYN_PASSES_EXPAND_PASSES_H
#define DYN_PASSES_EXPAND_PASSES_H

#include "dialects/Dyn/DynOps.h"
#include "dialects/Nd/NdOps.h"
#include "dialects/Run/RunOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dyn::expand {
#define GEN_PASS_DECL
#include "passes/expand/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/expand/Passes.h.inc"
} // namespace dyn::expand

#endif // DYN_PASSES_EXPAND_PASSES_H
