//===- Passes.td - passes from kernels to a device ------------------------===//
#ifndef DYN_PASSES_GPU_TD
#define DYN_PASSES_GPU_TD

include "mlir/Pass/PassBase.td"

def MapKernelsPass : Pass<"map-kernels", "::mlir::ModuleOp"> {
  let summary = "loops become kernels of a device";
  let description = [{
    Each `kernel.fused`, and each reduction or spreading over leaves, becomes a `gpu.func` of the module `@kernels` and
    a `kernel.launch` in its place; loops with equal bodies share one. Mapping:

    - `map`: each thread takes every (blocks × threads)-th element;
    - `row`: one block for each row;
    - `total`: one block for each fixed block of the reduction, then one thread over what the blocks left;
    - reductions over leaves: one block for each leaf.

    A reduction has as many threads in a block as the host's code has accumulators (`vector-bytes` gives its lanes).
    Thread t adds what accumulator t adds there, in the same order, and both combine them in the same order, so sums
    have the same bits. Needs the `places` of `plan-memory`.

    What has no kernel and must not stay on the host is an error that says what it is. Example:
    test/passes/gpu/map-kernels.mlir.
  }];
  let options = [
    Option<"vectorBytes", "vector-bytes", "int64_t", "32", "width of the host's vector register">,
  ];
  let dependentDialects = ["::dyn::kernel::KernelDialect", "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::vector::VectorDialect"];
}

def ConvertKernelsPass : Pass<"convert-kernels", "::mlir::gpu::GPUModuleOp"> {
  let summary = "kernels of a device become NVVM";
  let description = [{
    MLIR's patterns for `gpu`, `memref`, `arith` and `cf`. Its own pass also turns LLVM's operations for roots and
    absolute values into calls of NVIDIA's library; here they stay, and become instructions. Of `math` nothing is left
    by now. Example: test/run/gpu/ptx.dyn.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def WritePtxPass : Pass<"write-ptx", "::mlir::ModuleOp"> {
  let summary = "modules of kernels in NVVM become PTX";
  let description = [{
    Each `gpu.module`, by now in the LLVM and NVVM dialects, is translated, optimized and written as PTX for `chip`; a
    `gpu.binary` of the same name holds the text. No operation is contracted or approximated: what is rounded in
    the source is rounded there. Example: test/passes/gpu/write-ptx.mlir.
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_80\"", "architecture, sm_80 or later">,
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect"];
}

def LaunchOnDevicePass : Pass<"launch-on-device", "::mlir::ModuleOp"> {
  let summary = "launches become calls of the runtime";
  let description = [{
    Each `gpu.launch_func` becomes a call of `dyn_launch` with the text of its `gpu.binary`, which the object carries as
    a constant. The function that launches has the context as its first argument. Example:
    test/passes/gpu/launch-on-device.mlir.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def EmulateLaunchesPass : Pass<"emulate-launches", "::mlir::ModuleOp"> {
  let summary = "kernels run on the host, block by block (for tests)";
  let description = [{
    Each `gpu.func` becomes a function that runs the blocks one after the other and the threads of a block one after the
    other, from one `gpu.barrier` to the next; what a thread keeps across a barrier is kept in memory. So a test without
    a device sees what blocks, threads and barriers, as written, compute. Barriers inside loops or branches are refused.
    Example: test/passes/gpu/emulate-launches.mlir.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::arith::ArithDialect"];
}

#endif // DYN_PASSES_GPU_TD
