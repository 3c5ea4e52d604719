//===- MergeReads.cpp - what was read before is not read again ------------===//
//
// A rule that asks for the gradient again, or for those of single examples,
// reads parameters and rows that the objective has read. Once they are the same
// values, common subexpressions are found through them, whole forward passes
// among them; MLIR's own pass finds no reads on either side of any effect.
//
//===----------------------------------------------------------------------===//
#include "passes/expand/Passes.h"

#include "dialects/Run/RunOps.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace dyn::expand {
#define GEN_PASS_DEF_MERGEREADSPASS
#include "passes/expand/Passes.h.inc"
} // namespace dyn::expand

using namespace mlir;

namespace dyn::expand {
namespace {

using Effects = SmallVector<MemoryEffects::EffectInstance>;

/// What a block has read and not written since.
class KnownReads {
public:
  void visit(Operation *op) {
    auto effects = getEffectsRecursively(op);
    if (!effects) {
      reads.clear();
      return;
    }
    if (op->getNumRegions() == 0 && hasSingleEffect<MemoryEffects::Read>(op)) {
      if (Operation *known = find(op)) {
        op->replaceAllUsesWith(known);
        op->erase();
      } else {
        reads.push_back(op);
      }
      return;
    }
    for (const MemoryEffects::EffectInstance &effect : *effects)
      if (!isa<MemoryEffects::Read>(effect.getEffect()))
        forget(op, effect.getResource());
  }

private:
  Operation *find(Operation *op) const {
    auto found = llvm::find_if(reads, [&](Operation *read) {
      return OperationEquivalence::isEquivalentTo(read, op, OperationEquivalence::IgnoreLocations);
    });
    return found == reads.end() ? nullptr : *found;
  }
  /// A write of one arena leaves the others as they are.
  void forget(Operation *writer, SideEffects::Resource *resource) {
    auto write = dyn_cast<run::WriteOp>(writer);
    llvm::erase_if(reads, [&](Operation *op) {
      auto read = dyn_cast<run::ReadOp>(op);
      if (write && read)
        return write.getArena() == read.getArena();
      Effects effects;
      cast<MemoryEffectOpInterface>(op).getEffects(effects);
      return llvm::any_of(effects, [&](auto &effect) { return effect.getResource() == resource; });
    });
  }

  SmallVector<Operation *> reads;
};

struct MergeReads : impl::MergeReadsPassBase<MergeReads> {
  void runOnOperation() override {
    getOperation().walk([](Block *block) {
      KnownReads known;
      for (Operation &op : llvm::make_early_inc_range(*block))
        known.visit(&op);
    });
  }
};

} // namespace
} // namespace dyn::expand
