//===- Passes.td - passes from kernels to loops and to LLVM ---------------===//
#ifndef DYN_PASSES_LOWER_TD
#define DYN_PASSES_LOWER_TD

include "mlir/Pass/PassBase.td"

def PlanPartsPass : Pass<"plan-parts", "::mlir::ModuleOp"> {
  let summary = "numbers the ops whose time a profile takes";
  let description = [{
    Gives an attribute `part` to the program, to each function that it calls, and in those to each fused loop, product
    (with its epilogue), copy, draw, metric, other loop over an array, and `scan`, `while` or `cond`. The module's
    `kernel.parts` lists them: kind, words, places of the spec, the part around it, bytes and floating-point operations
    of one pass, and whether threads share it. `lower-kernels` puts `dyn_part_begin` and `dyn_part_end` around an op that
    has the attribute. `kernel.metric_names` gives words for metrics. Scalar code has no part: it is what is left of its function.

    Needs the `places` of `plan-memory`. Example: test/passes/lower/plan-parts.mlir.
  }];
  let options = [
    Option<"vectorBytes", "vector-bytes", "int64_t", "32", "width of a vector register">,
  ];
}

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
