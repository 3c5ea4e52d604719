//===- DeviceKernels.h - kernels of a device, one for each loop -----------===//
//
// A kernel is a `gpu.func` that takes each input of a loop (a scalar, or the
// address of an array), then the address of each result. Barriers stand only
// between its outermost operations.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_PASSES_GPU_DEVICEKERNELS_H
#define DYN_PASSES_GPU_DEVICEKERNELS_H

#include "passes/gpu/Passes.h"

namespace dyn::gpu {

/// A kernel, and on how many blocks of how many threads it runs.
struct Mapped {
  mlir::gpu::GPUFuncOp kernel;
  int64_t blocks = 1, threads = 1;
  mlir::gpu::GPUFuncOp finish; ///< one thread, once the blocks are done; null: nothing is left to do
};

/// The threads of a block that reduce together: thread t of `sets * lanes` stands for lane t % lanes of accumulator
/// t / lanes of the host's code.
struct Team {
  int64_t lanes = 1, sets = 1;
  int64_t threads() const { return lanes * sets; }
};

/// An empty kernel of `into` for blocks of `threads` threads; `b` is left at its end.
mlir::gpu::GPUFuncOp startKernel(mlir::OpBuilder &b, mlir::Location loc, mlir::gpu::GPUModuleOp into,
                                 llvm::StringRef name, llvm::ArrayRef<mlir::Type> arguments, int64_t threads);
/// The present thread of its block, and the present block, as i64.
mlir::Value threadNumber(mlir::OpBuilder &b, mlir::Location loc);
mlir::Value blockNumber(mlir::OpBuilder &b, mlir::Location loc);

/// Combines one value of each thread of a block, in the order in which the host combines its accumulators; every thread
/// gets the result. `b` stands at the end of the kernel, outside of loops and branches.
mlir::Value reduceTeam(mlir::OpBuilder &b, mlir::Location loc, mlir::gpu::GPUFuncOp kernel, mlir::Value thread,
                       Team team, nd::ReduceKind kind, mlir::Value value);

/// LoopKernels.cpp. `hostVectorBytes` gives the lanes of the host's code, whose order reductions keep.
Mapped mapLoop(mlir::ModuleOp module, kernel::FusedOp op, mlir::gpu::GPUModuleOp into, llvm::StringRef name,
               int64_t hostVectorBytes);
/// LeafKernels.cpp: reductions over leaves, and what is spread over their elements.
Mapped mapSegmentReduce(nd::SegmentReduceOp op, mlir::gpu::GPUModuleOp into, llvm::StringRef name,
                        int64_t hostVectorBytes);
Mapped mapSegmentSpread(nd::SegmentSpreadOp op, mlir::gpu::GPUModuleOp into, llvm::StringRef name);

/// Threads of a block of a loop without reductions.
constexpr int64_t mapThreads = 256;
/// Blocks for `elements` of such a loop: enough to fill a device, few enough that each thread has some work.
int64_t mapBlocks(int64_t elements);

} // namespace dyn::gpu

#endif // DYN_PASSES_GPU_DEVICEKERNELS_H
