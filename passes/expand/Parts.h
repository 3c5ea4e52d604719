//===- Parts.h - objectives of one part of the batch ----------------------===//
#ifndef DYN_PASSES_EXPAND_PARTS_H
#define DYN_PASSES_EXPAND_PARTS_H

#include "dialects/Dyn/DynOps.h"

namespace dyn::expand {

/// Gives each `dyn.part_gradients` inside `op` an objective for one part of the batch: a copy of the whole one's that sees
/// so many rows fewer and takes the number of the part as its last argument. Draws for each example are those that the
/// example has in the whole batch.
void makePartObjectives(mlir::Operation *op);

/// Parts of which an objective sees one; 1 for an objective of the whole batch.
int64_t partsOf(ir::ObjectiveOp objective);

} // namespace dyn::expand

#endif // DYN_PASSES_EXPAND_PARTS_H
