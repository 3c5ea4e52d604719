//===- Cost.h - what an op costs, and when it is worth a second thread ----===//
#ifndef DYN_PASSES_LOWER_COST_H
#define DYN_PASSES_LOWER_COST_H

#include "dialects/Kernel/KernelOps.h"

namespace dyn::lower {

/// Floating-point operations of all elements of an op that makes arrays; of a fused loop, of its body.
int64_t flopsOf(mlir::Operation *op);
/// Bytes that a fused loop moves: of its results, and what it reads of its inputs once.
int64_t bytesMoved(kernel::FusedOp op);
/// The array whose elements an op with one result goes through: what it reduces, else what it makes.
mlir::Value domainOf(mlir::Operation *op);

/// Estimated time of a whole fused loop on one core, in nanoseconds.
double estimateNanoseconds(kernel::FusedOp op, int64_t lanes);

/// Units of work (elements, rows, blocks) that one piece of a parallel loop gets; 0: not worth it, call directly.
/// Depends on the op only, never on the machine's threads.
int64_t grainOf(kernel::FusedOp op, int64_t extent, int64_t lanes);

} // namespace dyn::lower

#endif // DYN_PASSES_LOWER_COST_H
