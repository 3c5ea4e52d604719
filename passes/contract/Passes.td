//===- Passes.td - passes that bring contractions to a form that has a fast routine ---===//
#ifndef DYN_PASSES_CONTRACT_TD
#define DYN_PASSES_CONTRACT_TD

include "mlir/Pass/PassBase.td"

def ReassociatePass : Pass<"reassociate", "::mlir::func::FuncOp"> {
  let summary = "sums of products in a cheaper order";
  let description = [{
    `sum_b c_b d_bi x_bj` is one matrix product of `c_b d_bi` and `x_bj`, and `sum_ij (d_bi x_bj)^2` is
    `(sum_i d_bi^2) (sum_j x_bj^2)`: neither needs the products `d_bi x_bj` of all b. A sum of a product of several
    factors, found through multiplications, quotients, broadcasts, reshapes, selections and contractions without a
    summed letter, becomes contractions of two factors at a time in the cheapest order, if that costs less than half of
    making the product and adding it up. Example: test/passes/contract/reassociate.mlir.
  }];
  let dependentDialects = ["::dyn::nd::NdDialect"];
}

def NormalizeContractionsPass : Pass<"normalize-contractions", "::mlir::func::FuncOp"> {
  let summary = "contractions become matrix products or plain loops";
  let description = [{
    Every `nd.contract` becomes one of

    - `kernel.product`, over operands whose letters stand as [batch, m, k] or transposed, so that a transposition
      next to a contraction costs nothing;
    - elementwise products and a reduction, where one of m, n, k is missing: outer products, dot products,
      matrix times vector. They fuse with what is around them.

    First, contractions with an `nd.window` become products that read the window from its images, and so do both of
    their derivatives; what follows one element by element follows it in its shape.

    Reductions over several trailing dimensions become reductions over one, and sums of zero-padded pieces of one
    range become a concatenation: the shape in which the derivative of slices of a flat range arrives.

    `fuse-kernels` relies on both: no `nd.contract` is left. Example: test/passes/contract/normalize-contractions.mlir.
  }];
  let dependentDialects = ["::dyn::kernel::KernelDialect", "::dyn::nd::NdDialect"];
}

def CallLibraryPass : Pass<"call-library", "::mlir::func::FuncOp"> {
  let summary = "ops that a routine of the runtime does become calls";
  let description = [{
    Every op with the interface `LibraryCall` becomes `kernel.call`. The scratch memory that the routine needs is one
    more result, so that `plan-memory` gives it a place among the arrays of its time. Example:
    test/passes/contract/call-library.mlir.
  }];
  let dependentDialects = ["::dyn::kernel::KernelDialect", "::dyn::nd::NdDialect"];
}

#endif // DYN_PASSES_CONTRACT_TD
