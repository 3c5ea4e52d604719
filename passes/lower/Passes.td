//===- Passes.td - passes from kernels to loops and to LLVM ---------------===//
#ifndef DYN_PASSES_LOWER_TD
#define DYN_PASSES_LOWER_TD

include "mlir/Pass/PassBase.td"

def LowerKernelsPass : Pass<"lower-kernels", "::mlir::ModuleOp"> {
  let summary = "kernels become loops over vectors, effects calls of the runtime";
  let description = [{
    Needs the `places` of `plan-memory`. Each `kernel.fused` becomes a function `(closure, lo, hi)` over elements,
    rows or blocks; kernels with the same body share one. Each function of effects becomes `(context)`: scalar code,
    calls of kernels (through `dyn_parallel_for` when a cost estimate says so) and of the library. `run.program`
    becomes a loop of calls that ends when `status` is set. A `kernel.launch` becomes a `gpu.launch_func`; the host
    waits where its own code goes on.

    Loops go over vectors of the full native width. The last piece uses the same code under a constant mask, so a
    lane has the same bits wherever it falls. Sums of a row or a block are kept in several accumulators that are
    combined in a fixed order; blocks have a fixed size; so bits depend on shapes only.

    Afterwards the module holds func, scf, cf, arith, math, vector and llvm. Example:
    test/passes/lower/lower-kernels.mlir.
  }];
  let options = [
    Option<"vectorBytes", "vector-bytes", "int64_t", "32", "width of a vector register">,
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // DYN_PASSES_LOWER_TD
