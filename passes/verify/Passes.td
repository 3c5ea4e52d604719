//===- Passes.td - passes that fence the phases ---------------------------===//
#ifndef DYN_PASSES_VERIFY_TD
#define DYN_PASSES_VERIFY_TD

include "mlir/Pass/PassBase.td"

def VerifyFusedPass : Pass<"verify-fused", "::mlir::func::FuncOp"> {
  let summary = "what may still make arrays once kernels are fused";
  let description = [{
    After `fuse-kernels` an array (rank 1 or more) is made by `kernel.fused`, `kernel.product`, a view, an effect, a
    constant, or one of the ops with a loop of its own. Anything else is our bug, and said here rather than met by
    `plan-memory`. A type with an encoding means that a hidden axis was not lowered. Example:
    test/passes/verify/verify-fused.mlir.
  }];
}

def VerifyPlacesPass : Pass<"verify-places", "::mlir::func::FuncOp"> {
  let summary = "every array that an op makes has a place";
  let description = [{
    After `plan-memory` each array that an op makes has an entry in `places`, whose offset is not negative. Kernels that
    write where another of their inputs lies must read that input at their own index. Example:
    test/passes/verify/verify-places.mlir.
  }];
}

#endif // DYN_PASSES_VERIFY_TD
