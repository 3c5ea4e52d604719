//===- FunctionLowering.h - a function of effects becomes code ------------===//
#ifndef DYN_PASSES_LOWER_FUNCTIONLOWERING_H
#define DYN_PASSES_LOWER_FUNCTIONLOWERING_H

#include "dialects/Nd/NdWindow.h"
#include "dialects/Run/RunOps.h"
#include "passes/lower/Passes.h"
#include "passes/memory/Places.h"

namespace dyn::lower {

/// Functions of kernels, shared by kernels with equal bodies.
class KernelTable {
public:
  KernelTable(mlir::ModuleOp module, int64_t vectorBytes) : module(module), vectorBytes(vectorBytes) {}
  mlir::LLVM::LLVMFuncOp functionFor(kernel::FusedOp op);
  /// The function of a product that is written out.
  mlir::LLVM::LLVMFuncOp functionFor(kernel::ProductOp op);
  int64_t lanesOf(kernel::FusedOp op) const;
  int64_t getVectorBytes() const { return vectorBytes; }

private:
  mlir::ModuleOp module;
  int64_t vectorBytes;
  std::vector<std::pair<kernel::FusedOp, mlir::LLVM::LLVMFuncOp>> known;
  std::vector<std::pair<kernel::ProductOp, mlir::LLVM::LLVMFuncOp>> products;
};

/// Writes `void name(DynContext *)` for one function. Scalars are SSA values, arrays addresses.
class FunctionLowering {
public:
  FunctionLowering(mlir::ModuleOp module, KernelTable &kernels)
      : module(module), kernels(kernels), b(module.getContext()) {}
  mlir::LogicalResult lower(mlir::func::FuncOp source);

private:
  // FunctionLowering.cpp: values, effects, kernels.
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  /// Between begin and end of its part, if it has one.
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  mlir::LogicalResult lowerPlainOp(mlir::Operation *op);
  mlir::LogicalResult lowerScalar(mlir::Operation *op);
  mlir::Value scalar(mlir::Value value) { return scalars.lookup(value); }
  mlir::Value pointer(mlir::Value value);
  mlir::Value arenaBase(int64_t arena);
  mlir::Value offset(mlir::Value base, int64_t bytes);
  mlir::Value offset(mlir::Value base, mlir::Value bytes);
  mlir::Value i64(int64_t value);
  mlir::Value i32(int64_t value);
  mlir::Value null();
  /// Stack memory that lives as long as the function runs.
  mlir::Value stack(mlir::Type type, int64_t count);
  void copy(mlir::Value to, mlir::Value from, int64_t bytes);
  void copyUnlessThere(mlir::Value value, std::optional<memory::Place> place, mlir::Value to);
  mlir::Value globalConstant(nd::ConstantOp op);
  mlir::Value globalNumbers(llvm::ArrayRef<int64_t> numbers);
  void lowerRead(run::ReadOp op);
  void lowerWrite(run::WriteOp op);
  void lowerEmit(run::EmitOp op);
  void lowerGuard(run::GuardOp op);
  void lowerFused(kernel::FusedOp op);
  void finishTotals(kernel::FusedOp op);
  void lowerProduct(kernel::ProductOp op);
  void lowerLaunch(kernel::LaunchOp op); // Launches.cpp
  void lowerCall(kernel::CallOp op);     // LibraryCalls.cpp
  mlir::Value closureOf(kernel::FusedOp op);
  /// Leaves the function if `failed`; `before` runs on the way out. Inside a region it only runs `before`.
  void leaveIf(mlir::Value failed, llvm::function_ref<void()> before);
  void leaveIfFailed();
  /// The end of the function, here.
  void leave();

  // RegionOps.cpp.
  mlir::LogicalResult lowerScan(nd::ScanOp op);
  mlir::LogicalResult lowerWhile(nd::WhileOp op);
  mlir::LogicalResult lowerCond(nd::CondOp op);
  /// Carried arrays: into their places before the loop; at its end the next ones, none lost to another's place.
  void placeInits(mlir::Operation *loop, mlir::ValueRange inits);
  void placeCarries(mlir::Operation *loop, mlir::ValueRange next, mlir::ValueRange arguments);

  // Windows.cpp.
  void lowerUnwindow(nd::UnwindowOp op);
  struct Unwindow;
  /// Adds all places of the present element of the window, along axis d and those below, from element `source` of the
  /// operand on to element `target` of the result on.
  void addPlaces(const Unwindow &unwindow, size_t d, mlir::Value target, mlir::Value source);
  void interleaveRow(const Unwindow &unwindow, mlir::Value target, mlir::Value source, int64_t apart);
  void lowerTiling(const Unwindow &unwindow, int64_t leads);
  /// Goes over the elements of the window along axis d and those below.
  void addElements(Unwindow &unwindow, size_t d, mlir::Value lead, mlir::Value source);

  // ArrayOps.cpp.
  void lowerConcat(nd::ConcatOp op);
  void lowerScatter(nd::ScatterOp op);
  void lowerCumulate(nd::CumulateOp op);
  void lowerArgReduce(nd::ArgReduceOp op);
  void lowerDraw(nd::DrawOp op);
  void lowerSegmentReduce(nd::SegmentReduceOp op);
  void lowerSegmentSpread(nd::SegmentSpreadOp op);
  void lowerScalarGather(nd::GatherOp op);
  using LoopBody = llvm::function_ref<void(mlir::Value)>;
  using FoldBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)>;
  void loop(mlir::Value from, mlir::Value to, int64_t step, LoopBody body);
  llvm::SmallVector<mlir::Value> fold(mlir::Value from, mlir::Value to, int64_t step, mlir::ValueRange inits,
                                      FoldBody body);
  /// Over [0, count): body(i, lanes) for whole vectors, then for single elements.
  void overVectors(mlir::Value from, mlir::Value to, mlir::Type element,
                   llvm::function_ref<void(mlir::Value, int64_t)> body);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value multiply(mlir::Value x, int64_t y);
  mlir::Value load(mlir::Value base, mlir::Type element, mlir::Value index, int64_t lanes = 1);
  void store(mlir::Value value, mlir::Value base, mlir::Value index);
  /// Whether `index` is in [0, size); a failure is recorded otherwise.
  mlir::Value checkIndex(mlir::Operation *op, mlir::Value index, int64_t size);

  mlir::ModuleOp module;
  KernelTable &kernels;
  mlir::OpBuilder b;
  mlir::Location loc = mlir::UnknownLoc::get(b.getContext());
  mlir::LLVM::LLVMFuncOp function;
  mlir::IntegerAttr part; ///< of the function in a profile; null: none
  mlir::Value context;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars, pointers;
  llvm::DenseMap<int64_t, mlir::Value> arenas;
  llvm::DenseMap<mlir::Operation *, mlir::Value> passOf; ///< number of the present pass of each open scan
};

} // namespace dyn::lower

#endif // DYN_PASSES_LOWER_FUNCTIONLOWERING_H
