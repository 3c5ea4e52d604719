//===- Cost.h - when a loop is worth a second thread ----------------------===//
#ifndef DYN_PASSES_LOWER_COST_H
#define DYN_PASSES_LOWER_COST_H

#include "dialects/Kernel/KernelOps.h"

namespace dyn::lower {

/// Estimated time of a whole fused loop on one core, in nanoseconds.
double estimateNanoseconds(kernel::FusedOp op, int64_t lanes);

/// Units of work (elements, rows, blocks) that one piece of a parallel loop gets; 0: not worth it, call directly.
/// Depends on the op only, never on the machine's threads.
int64_t grainOf(kernel::FusedOp op, int64_t extent, int64_t lanes);

} // namespace dyn::lower

#endif // DYN_PASSES_LOWER_COST_H
