//===- EffectOrder.h - which ops of a block keep their order ----*- C++ -*-===//
//
// What values do not say about order: writes, emits and guards form a chain;
// a read keeps its side of what may write its arena. Ops may share a loop, and
// may move, only within this order.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_PASSES_FUSE_EFFECTORDER_H
#define DYN_PASSES_FUSE_EFFECTORDER_H

#include "mlir/IR/Block.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace dyn::fuse {

class EffectOrder {
public:
  explicit EffectOrder(mlir::Block &block);

  /// Ops that must stay behind `op`, those apart that follow from others.
  llvm::ArrayRef<mlir::Operation *> followersOf(mlir::Operation *op) const {
    auto found = followers.find(op);
    return found == followers.end() ? llvm::ArrayRef<mlir::Operation *>() : llvm::ArrayRef(found->second);
  }

private:
  class Builder;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *, 2>> followers;
};

} // namespace dyn::fuse

#endif // DYN_PASSES_FUSE_EFFECTORDER_H
