//===- EffectOrder.cpp - which ops of a block keep their order ------------===//
#include "passes/fuse/EffectOrder.h"

#include "dialects/Run/RunOps.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dyn::fuse {
namespace {

/// The arenas that an op reads, in its regions too; nothing when it has other effects than reads.
std::optional<llvm::SmallSetVector<uint64_t, 4>> arenasOfReader(Operation *op) {
  llvm::SmallSetVector<uint64_t, 4> arenas;
  WalkResult walked = op->walk([&](Operation *inner) {
    if (auto read = dyn_cast<run::ReadOp>(inner))
      arenas.insert(read.getArena());
    else if (isa<run::WriteOp, run::EmitOp, run::GuardOp>(inner) ||
             (!inner->getNumRegions() && !isMemoryEffectFree(inner) && !hasSingleEffect<MemoryEffects::Read>(inner)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return walked.wasInterrupted() ? std::nullopt : std::optional(std::move(arenas));
}

} // namespace

class EffectOrder::Builder {
public:
  explicit Builder(EffectOrder &order) : order(order) {}

  void add(Operation *op) {
    if (isMemoryEffectFree(op) || op->hasTrait<OpTrait::IsTerminator>())
      return;
    bool hasRegions = op->getNumRegions();
    if (auto arenas = isa<run::ReadOp>(op) || hasRegions ? arenasOfReader(op) : std::nullopt) {
      if (!arenas->empty())
        addReader(op, arenas->getArrayRef());
    } else if (hasRegions || isa<run::WriteOp, run::EmitOp, run::GuardOp>(op))
      addWriter(op, hasRegions);
  }

private:
  void edge(Operation *from, Operation *to) {
    if (from)
      order.followers[from].push_back(to);
  }
  void addReader(Operation *op, ArrayRef<uint64_t> arenas) {
    edge(lastOpaque, op);
    for (uint64_t arena : arenas) {
      edge(lastWrite.lookup(arena), op);
      readsOf[arena].push_back(op);
    }
    reads.push_back(op);
  }
  /// `isOpaque`: it may write any arena.
  void addWriter(Operation *op, bool isOpaque) {
    edge(last, op);
    last = op;
    auto write = dyn_cast<run::WriteOp>(op);
    if (!write && !isOpaque)
      return;
    for (Operation *read : std::exchange(write ? readsOf[write.getArena()] : reads, {}))
      edge(read, op);
    if (write)
      lastWrite[write.getArena()] = op;
    else
      lastOpaque = op;
  }

  EffectOrder &order;
  Operation *last = nullptr, *lastOpaque = nullptr;
  SmallVector<Operation *> reads;
  llvm::DenseMap<uint64_t, Operation *> lastWrite;
  llvm::DenseMap<uint64_t, SmallVector<Operation *>> readsOf;
};

EffectOrder::EffectOrder(Block &block) {
  Builder builder(*this);
  for (Operation &op : block)
    builder.add(&op);
}

} // namespace dyn::fuse
