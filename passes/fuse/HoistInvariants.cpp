//===- HoistInvariants.cpp - what every pass of a loop makes alike --------===//
//
// Products of one Hessian with twenty vectors need one forward pass. Ops of a
// scan's body that use nothing of it move in front of it, if they are worth an
// array that lives as long as the loop: contractions, reductions, elementary
// functions, what is gathered. What only moves elements about or takes an
// instruction an element follows where such an op needs it, and is made again
// inside for the rest: there it fuses with its readers.
//
//===----------------------------------------------------------------------===//
#include "passes/fuse/Passes.h"

#include "dialects/Nd/NdWindow.h"
#include "dialects/Run/RunOps.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

#include "llvm/ADT/SetVector.h"

namespace dyn::fuse {
#define GEN_PASS_DEF_HOISTINVARIANTSPASS
#include "passes/fuse/Passes.h.inc"
} // namespace dyn::fuse

using namespace mlir;

namespace dyn::fuse {
namespace {

/// Bytes; a larger array is made again, often without being stored.
constexpr int64_t largestKept = int64_t(16) << 20;

bool movesElements(Operation *op) {
  return isa<nd::BroadcastOp, nd::ReshapeOp, nd::TransposeOp, nd::SliceOp, nd::PadOp, nd::ConstantOp, nd::IotaOp,
             nd::WindowOp, nd::StopGradientOp>(op);
}

bool isCheap(Operation *op) {
  return movesElements(op) || isa<nd::AddOp, nd::SubOp, nd::MulOp, nd::NegOp, nd::AbsOp, nd::MinOp, nd::MaxOp,
                                  nd::CompareOp, nd::SelectOp, nd::AndOp, nd::OrOp, nd::NotOp, nd::CastOp>(op);
}

bool isWorthKeeping(Operation *op) {
  if (isCheap(op) || isa<run::RunDialect>(op->getDialect()))
    return false;
  return llvm::all_of(op->getResultTypes(), [](Type type) {
    auto array = cast<RankedTensorType>(type);
    return array.getNumElements() * int64_t((array.getElementTypeBitWidth() + 7) / 8) <= largestKept;
  });
}

class Hoister {
public:
  explicit Hoister(nd::ScanOp scan) : scan(scan), body(scan.getBody().front()) {}

  void run() {
    findInvariants();
    findNeeded();
    for (Operation *op : invariants)
      if (needed.contains(op))
        op->moveBefore(scan);
    for (Operation *op : llvm::reverse(invariants))
      if (needed.contains(op) && movesElements(op))
        copyInside(op);
  }

private:
  /// Pure, or a read where the loop writes nothing; nothing that fails where the loop would not have begun.
  void findInvariants() {
    auto effects = getEffectsRecursively(scan);
    bool onlyReads = effects && llvm::all_of(*effects, [](auto &effect) { return isa<MemoryEffects::Read>(effect.getEffect()); });
    if (scan.getTrip() < 1)
      return;
    for (Operation &op : body.without_terminator())
      if ((isMemoryEffectFree(&op) || (onlyReads && hasSingleEffect<MemoryEffects::Read>(&op))) && usesNothingOfBody(&op))
        invariants.insert(&op);
  }

  bool usesNothingOfBody(Operation *op) {
    auto isOutside = [&](Value value) {
      Operation *maker = value.getDefiningOp();
      return maker ? !scan.getBody().isAncestor(maker->getParentRegion()) || invariants.contains(maker)
                   : value.getParentBlock() != &body;
    };
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    return llvm::all_of(op->getOperands(), isOutside) && llvm::all_of(captured, isOutside);
  }

  /// What is worth it, and what that reads.
  void findNeeded() {
    for (Operation *op : llvm::reverse(invariants)) {
      bool isRead = llvm::any_of(op->getUsers(), [&](Operation *user) {
        return needed.contains(body.findAncestorOpInBlock(*user));
      });
      if (isRead || isWorthKeeping(op))
        needed.insert(op);
    }
  }

  void copyInside(Operation *op) {
    auto isInside = [&](OpOperand &use) { return scan.getBody().isAncestor(use.getOwner()->getParentRegion()); };
    if (llvm::none_of(op->getUses(), isInside))
      return;
    Operation *copy = OpBuilder::atBlockBegin(&body).clone(*op);
    op->getResult(0).replaceUsesWithIf(copy->getResult(0), isInside);
  }

  nd::ScanOp scan;
  Block &body;
  llvm::SetVector<Operation *> invariants;
  llvm::SmallPtrSet<Operation *, 32> needed;
};

struct HoistInvariants : impl::HoistInvariantsPassBase<HoistInvariants> {
  void runOnOperation() override {
    getOperation().walk([](nd::ScanOp scan) { Hoister(scan).run(); }); // inner loops first
  }
};

} // namespace
} // namespace dyn::fuse
