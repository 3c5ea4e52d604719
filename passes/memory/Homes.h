//===- Homes.h - values that are made where they go -----------------------===//
#ifndef DYN_PASSES_MEMORY_HOMES_H
#define DYN_PASSES_MEMORY_HOMES_H

#include "dialects/Run/RunOps.h"
#include "passes/memory/Places.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace dyn::memory {

/// Ops in the order they run: a position each; a region's ops lie between its op's first and last.
class Timeline {
public:
  explicit Timeline(mlir::func::FuncOp function);
  int at(mlir::Operation *op) const { return first.lookup(op); }
  int end(mlir::Operation *op) const { return last.lookup(op); }
  /// When `value` and all views of it are last read, seen from the block that makes it.
  int lastUse(mlir::Value value) const;
  /// When an op starts to write its results: a product's epilogue writes while the product runs.
  int startsWriting(mlir::Operation *op) const;

private:
  llvm::DenseMap<mlir::Operation *, int> first, last;
};

/// A place decided by the receiver of a value.
struct Home {
  enum Kind { arena, inside, row } kind = arena;
  Place place;        ///< arena: a fixed place
  mlir::Value holder; ///< inside: another value; row: the stack of a scan
  int64_t bytes = 0;  ///< inside: from which byte on
};

/// Decides homes, last op first; see plan-memory.
class Homes {
public:
  Homes(mlir::func::FuncOp function, const Timeline &time);

  const Home *of(mlir::Value value) const {
    auto found = homes.find(value);
    return found == homes.end() ? nullptr : &found->second;
  }
  /// Reads whose elements must be kept: something writes over them while they are in use.
  bool needsCopy(run::ReadOp read) const;

private:
  void findContested();
  void visit(mlir::Operation *op);
  void visitWrite(run::WriteOp op);
  void visitConcat(nd::ConcatOp op);
  void visitYield(mlir::Operation *yield);
  void visitInits(mlir::Operation *loop, mlir::ValueRange inits);
  /// The value behind `value` if its op can make it anywhere and nobody gave it a home yet.
  mlir::Value homeless(mlir::Value value, mlir::Block *block) const;
  /// Whether bytes [offset, offset + size) of an arena may be written from the moment `maker` runs, when the order
  /// says `write`.
  bool mayWriteEarly(int64_t arena, int64_t offset, int64_t size, mlir::Operation *maker, mlir::Operation *write) const;
  /// Whether the maker of a carry's next value may write over the present one.
  bool mayReplace(mlir::Value carried, mlir::Operation *maker) const;
  /// Whether `maker` reads `value` only at the index that it is making.
  bool readsInPlace(mlir::Operation *maker, mlir::Value value) const;
  /// Whether a value's home is a row of some scan's stack.
  bool movesWithLoop(mlir::Value value) const;
  /// The arena range that a value's home comes to, through holders.
  std::optional<Place> arenaOf(mlir::Value value) const;

  mlir::func::FuncOp function;
  const Timeline &time;
  llvm::MapVector<mlir::Value, Home> homes;
  llvm::SmallVector<run::ReadOp> reads;
  llvm::SmallVector<run::WriteOp> writes;
  llvm::SmallVector<run::GuardOp> guards;
  llvm::DenseSet<mlir::Operation *> contested; ///< writes that share bytes with another one
  llvm::DenseMap<mlir::Value, mlir::Operation *> writeOf; ///< value with an arena home -> its write
};

} // namespace dyn::memory

#endif // DYN_PASSES_MEMORY_HOMES_H
