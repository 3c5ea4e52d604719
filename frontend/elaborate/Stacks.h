//===- Stacks.h - several trees as one value ------------------------------===//
//
// `[params for i in 0..n]` is an array of trees: its last dimension is cut as a
// tree is, and the ones before count trees. Its elements are trees again; as a
// whole it is the array [n, all elements of a tree].
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Dyn/DynOps.h"
#include "frontend/Diagnostics.h"

namespace dyn::elab {

/// Whether a type is a stack of trees.
inline bool isStackOfTrees(mlir::RankedTensorType type) {
  return type.getRank() > 1 && llvm::isa_and_present<ir::TreeAttr>(ir::rangeOf(type.getEncoding()));
}

/// Whether it is cut into leaves or as one tree, which is the last dimension's affair.
inline bool isOneRange(mlir::RankedTensorType type) {
  return type.getRank() == 1 &&
         llvm::isa_and_present<ir::LeavesAttr, ir::TreeAttr, ir::PerLeafAttr>(ir::rangeOf(type.getEncoding()));
}

/// Whether a value can be an element of an array. Leaves differ in shape, so values for each leaf cannot, but trees can.
/// False after a report.
inline bool canStack(mlir::RankedTensorType type, DiagnosticEngine &diags, Span span) {
  if (!llvm::isa_and_present<ir::LeavesAttr>(ir::rangeOf(type.getEncoding())))
    return true;
  diags.report(Diag::not_supported, span, "an array of leaf-wise values is").help("make one of trees: `tree(x)`, or `params`, `grads`");
  return false;
}

} // namespace dyn::elab
