//===- Passes.td - passes of the phase `differentiate` --------------------===//
#ifndef DYN_PASSES_DIFFERENTIATE_PASSES_TD
#define DYN_PASSES_DIFFERENTIATE_PASSES_TD

include "mlir/Pass/PassBase.td"

def DifferentiatePass : Pass<"nd-differentiate", "::mlir::ModuleOp"> {
  let summary = "gives a function its derivatives as further results";
  let description = [{
    In reverse mode the function's first result is a scalar float; the gradients with respect to the arguments `wrt`
    follow its results. In forward mode the function gets a tangent argument for each of `wrt` at the end, and a
    tangent for each float result. Refuses when a path from `wrt` to the results has no derivative, or when a result
    does not depend on an argument at all. Example: test/passes/differentiate/differentiate.mlir.
  }];
  let options = [
    Option<"function", "function", "std::string", "", "symbol name of the function">,
    ListOption<"wrt", "wrt", "int64_t", "argument numbers">,
    Option<"forward", "forward", "bool", "false", "forward mode">,
  ];
  let dependentDialects = ["::dyn::nd::NdDialect"];
}

#endif // DYN_PASSES_DIFFERENTIATE_PASSES_TD
