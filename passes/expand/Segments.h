//===- Segments.h - reductions of leaf-wise values as segmented ops -------===//
#ifndef DYN_PASSES_EXPAND_SEGMENTS_H
#define DYN_PASSES_EXPAND_SEGMENTS_H

#include "mlir/IR/Operation.h"

namespace dyn::expand {

/// Makes `dyn.leaf_reduce` and `dyn.leaf_spread` inside `op` segmented ops of nd between recasts: they have
/// derivatives and batching rules.
void expandSegments(mlir::Operation *op);

} // namespace dyn::expand

#endif // DYN_PASSES_EXPAND_SEGMENTS_H
