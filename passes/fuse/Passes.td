//===- Passes.td - passes that gather array ops into loops ----------------===//
#ifndef DYN_PASSES_FUSE_TD
#define DYN_PASSES_FUSE_TD

include "mlir/Pass/PassBase.td"

def SettleDerivativesPass : Pass<"settle-derivatives", "::mlir::func::FuncOp"> {
  let summary = "what only derivatives needed goes";
  let description = [{
    For functions that nothing will differentiate. `stop_gradient` becomes its operand. A cotangent g times a guarded
    factor f, `g * select(g != 0 or f - f == 0, f, 0)`, becomes `select(g != 0, g * f, 0)`: the same number (a zero
    may change its sign), whose derivative would be wrong where g is 0, but which needs no finiteness test.

    `fuse-kernels` gains by it: a stop_gradient would separate loops, and the test is an array that the forward half
    would keep for the backward half. Example: test/passes/fuse/settle-derivatives.mlir.
  }];
  let dependentDialects = ["::dyn::nd::NdDialect"];
}

def HoistInvariantsPass : Pass<"hoist-invariants", "::mlir::func::FuncOp"> {
  let summary = "what every pass of a loop makes alike is made once";
  let description = [{
    Ops of an `nd.scan` that use nothing of its body move in front of it where they cost more than an instruction an
    element and their result is of a size to keep; so does what they read. What only moves elements about is copied
    back for readers inside, where `fuse-kernels` takes it into their loops. Runs on nd, before it.
    Example: test/passes/fuse/hoist-invariants.mlir.
  }];
  let dependentDialects = ["::dyn::nd::NdDialect"];
}

def MultiplyByReciprocalsPass : Pass<"multiply-by-reciprocals", "::mlir::func::FuncOp"> {
  let summary = "an array over a number is a product with its reciprocal";
  let description = [{
    For arrays of f32 of some length and a number of rank 0 that the run knows: x / s becomes x * (1 / (s * c)) * c with
    a power of two c that keeps the reciprocal finite. Within 1.5 units in the last place; results for zeros, infinities
    and nan are those of the division. Runs on nd, before `fuse-kernels`, whose loops make the two numbers once.
    Example: test/passes/fuse/multiply-by-reciprocals.mlir.
  }];
  let dependentDialects = ["::dyn::nd::NdDialect"];
}

def FuseKernelsPass : Pass<"fuse-kernels", "::mlir::func::FuncOp"> {
  let summary = "array ops become few loops with several outputs";
  let description = [{
    Groups elementwise ops, what moves elements about (broadcast, transpose, strided slice, gather, iota, pad) and
    reductions into `kernel.fused`. Two groups join when one reads the other at its own index (or at its own row,
    when reductions over rows are in between) and no path through a third op goes back. Constants and index maps
    are cloned into each group that uses them. Scalar code (rank 0) stays outside, between the kernels; so do
    reshapes and contiguous slices, which move nothing.

    An update rule thus becomes one loop whatever the number of its ops and outputs, a softmax with its
    cross-entropy and their derivative one loop over rows. Groups over the rows of a product that run directly
    after it are marked `epilogue`.

    `plan-memory` relies on it: afterwards a value of rank 1 or more is made by a kernel, a product, a view, or one
    of the ops that have a loop of their own (scatter, concat, cumulate, arg_reduce, draw, segments, scan, while,
    cond). Example: test/passes/fuse/fuse-kernels.mlir.
  }];
  let dependentDialects = ["::dyn::kernel::KernelDialect", "::dyn::nd::NdDialect"];
  let statistics = [Statistic<"numKernels", "kernels", "fused loops made">];
}

#endif // DYN_PASSES_FUSE_TD
