//===- KernelEmitter.h - a fused body read at one index -------------------===//
//
// The body of a kernel.fused is a program over whole arrays. The emitter turns
// it around: emit(value, index) writes the code for the value at an index,
// asking its operands at the indices they are needed at. An index along the
// loop's vector is `base + stride * lane`; where lanes do not go in equal
// steps it is a vector of its own.
//
// Code goes as far out as it can: each emitted value belongs to a *level*, 0
// for the function, one more for each open loop, and is written at the
// outermost level at which all it reads is known. What was written once is
// found again as long as its level is open.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_PASSES_LOWER_KERNELEMITTER_H
#define DYN_PASSES_LOWER_KERNELEMITTER_H

#include "dialects/Kernel/KernelOps.h"
#include "dialects/Nd/NdWindow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/MapVector.h"

#include <map>

namespace dyn::lower {

/// A value and the level it belongs to. A null value is the number 0.
struct Emitted {
  mlir::Value value;
  unsigned level = 0;
};

/// Position along one dimension.
struct Dim {
  Emitted base;
  int64_t stride = 0; ///< steps a lane
  mlir::Value lanes;  ///< if set: the positions themselves, vector<i64>; base.level is its level
  bool varies() const { return lanes || stride; }
};
using Index = llvm::SmallVector<Dim, 4>;

class KernelEmitter {
public:
  KernelEmitter(mlir::ModuleOp module, kernel::FusedOp op, llvm::StringRef name, int64_t vectorBytes);

  /// The function (closure, lo, hi). Closure: context, then each input (pointer or scalar), then each output's pointer,
  /// in slots of 8 bytes.
  mlir::LLVM::LLVMFuncOp emit();

  /// Elements, rows or blocks that [lo, hi) counts, and how many there are.
  static int64_t extentOf(kernel::FusedOp op);
  /// Lanes of the kernel's vectors.
  static int64_t lanesOf(kernel::FusedOp op, int64_t vectorBytes);
  /// Vectors of accumulators that a reduction of a row or of a block keeps side by side; a power of two.
  static unsigned setsOf(kernel::FusedOp op);
  /// Whether one function serves both.
  static bool isSameCode(kernel::FusedOp x, kernel::FusedOp y);

protected:
  struct Level {
    mlir::Block *block;
    mlir::Operation *anchor; ///< code of this level goes before it; null: to the end
    unsigned serial;
    mlir::Operation *outerAnchor; ///< what the level outside goes back to
  };
  using Key = std::vector<const void *>;

  // KernelEmitter.cpp: values.
  Emitted emit(mlir::Value value, const Index &index);
  Emitted emitOp(mlir::Operation *op, const Index &index);
  Emitted emitElementwise(mlir::Operation *op, const Index &index);
  /// Contractions.cpp; a null value: `op` is none of that form.
  Emitted emitMultiplyAdd(mlir::Operation *op, const Index &index);
  Emitted emitQuotient(nd::DivOp op, const Index &index);
  /// Whether all reciprocals of the function have the scale 1.
  mlir::Value isPlain();
  /// `sum` and the element of the reduced array at `index`, as vectors or as scalars.
  mlir::Value reduceElement(nd::ReduceOp op, const Index &index, bool vector, mlir::Value sum);
  struct Reciprocal {
    mlir::Value scale, inverse; ///< x / d = (x scale) inverse
  };
  Reciprocal reciprocalOf(Emitted divisor);
  /// Calls `loop` for the case that the scales of reciprocals are 1, as they nearly always are, and for the other.
  void forPlainAndScaled(llvm::function_ref<void()> loop);
  Emitted emitLoad(mlir::BlockArgument argument, const Index &index);
  Emitted emitGather(nd::GatherOp op, const Index &index);
  Emitted emitPad(nd::PadOp op, const Index &index);
  Emitted emitWindow(nd::WindowOp op, const Index &index);
  /// The element of `input` at `positions`, or 0 where one of those that are `checked` is outside.
  Emitted emitWithin(mlir::Value input, const Index &positions, llvm::ArrayRef<bool> checked);
  Emitted emitReduce(nd::ReduceOp op, const Index &index);
  void reduceInto(nd::ReduceOp op, Index &index, unsigned at, bool varies, mlir::Value &accumulator);
  Dim checked(Emitted position, int64_t size, mlir::Operation *op);
  /// Offset in elements of an index into an array of `shape`.
  Dim linear(llvm::ArrayRef<int64_t> shape, const Index &index);
  Dim scaled(const Dim &dim, int64_t factor, int64_t offset);
  Dim sumOf(llvm::SmallVector<Dim> terms);
  Emitted add(Emitted a, Emitted b);
  Emitted multiply(Emitted a, int64_t factor);
  mlir::Value vectorOf(const Dim &dim);
  mlir::Value laneNumbers();
  Emitted constant(int64_t value);
  mlir::Value laneMask(int64_t count);
  mlir::Value spreadHere(Emitted value);

  // KernelLoops.cpp: loops.
  void emitProlog();
  void emitMap();
  void emitRows(llvm::function_ref<void()> row);
  /// Makes `row`, counted over all dimensions but the last, the present one.
  void enterRow(Emitted row);
  void emitRow();
  void emitTotal();
  void emitTotalBlock(Emitted block, llvm::SmallVectorImpl<mlir::Value> &accumulators);
  void storeOutputs(const Dim &last);
  void accumulate(llvm::ArrayRef<nd::ReduceOp> reduces, const Dim &last,
                  llvm::MutableArrayRef<mlir::Value> accumulators);
  /// Calls body on each piece of [0, count): a loop over groups of `sets` vectors, then the rest, then what is less
  /// than a vector under a mask. Piece p of a group has its own set of accumulators.
  void sweep(int64_t count, unsigned sets, llvm::SmallVectorImpl<mlir::Value> &accumulators,
             llvm::function_ref<void(const Dim &, llvm::MutableArrayRef<mlir::Value>)> body);
  /// Reductions of a row in the order of their needs: those of one list read what earlier lists gave.
  std::vector<llvm::SmallVector<nd::ReduceOp>> generations();
  llvm::SmallVector<mlir::Value> startAccumulators(llvm::ArrayRef<nd::ReduceOp> reduces, unsigned sets);
  /// One scalar a reduction.
  llvm::SmallVector<mlir::Value> finishAccumulators(llvm::ArrayRef<nd::ReduceOp> reduces, unsigned sets,
                                                    llvm::ArrayRef<mlir::Value> accumulators);
  mlir::scf::ForOp openLoop(Emitted from, Emitted to, int64_t step, mlir::ValueRange inits);
  void closeLoop(mlir::scf::ForOp loop, mlir::ValueRange yields);
  /// Runs `inside` in the first region of an scf.if; gives the results.
  llvm::SmallVector<mlir::Value> branch(mlir::Value condition, llvm::ArrayRef<mlir::Value> otherwise,
                                        llvm::function_ref<llvm::SmallVector<mlir::Value>()> inside);
  unsigned depth() const { return levels.size() - 1; }
  /// Puts the builder where code of a level goes.
  mlir::OpBuilder &at(unsigned level);
  mlir::OpBuilder &here() { return at(depth()); }

  mlir::ModuleOp module;
  kernel::FusedOp op;
  std::string name;
  mlir::Location loc;
  int64_t lanes;
  bool flat;
  mlir::OpBuilder b;
  mlir::Block *entry = nullptr; ///< of the function: constants go to its start
  mlir::Value context, lo, hi;
  llvm::SmallVector<mlir::Value> inputs, outputs;
  llvm::SmallVector<Level> levels;
  unsigned serials = 0;
  struct Cached {
    Emitted emitted;
    unsigned serial;
  };
  std::map<Key, Cached> cache;
  std::map<int64_t, mlir::Value> constants, masks;
  llvm::MapVector<mlir::Value, Reciprocal> reciprocals;
  bool plain = false; ///< scales of reciprocals are known to be 1
  llvm::DenseMap<mlir::Value, Emitted> computed; ///< reductions of the present row
  mlir::Value mask;                              ///< of the present piece, or null
  mlir::Value laneIota;
  Index rowDims; ///< all but the last dimension, in a loop over rows
  Emitted rowNumber;
};

} // namespace dyn::lower

#endif // DYN_PASSES_LOWER_KERNELEMITTER_H
