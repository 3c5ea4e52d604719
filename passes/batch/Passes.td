//===- Passes.td - passes of the phase `batch` ----------------------------===//
#ifndef DYN_PASSES_BATCH_PASSES_TD
#define DYN_PASSES_BATCH_PASSES_TD

include "mlir/Pass/PassBase.td"

def BatchPass : Pass<"nd-batch", "::mlir::ModuleOp"> {
  let summary = "makes a function work on many rows at once";
  let description = [{
    The arguments `args` of the function, and all that depends on them, get a leading dimension `size`. Results that
    do not depend on them keep their type. Example: test/passes/batch/batch.mlir.
  }];
  let options = [
    Option<"function", "function", "std::string", "", "symbol name of the function">,
    ListOption<"args", "args", "int64_t", "argument numbers">,
    Option<"size", "size", "int64_t", "1", "the leading dimension">,
  ];
  let dependentDialects = ["::dyn::nd::NdDialect"];
}

#endif // DYN_PASSES_BATCH_PASSES_TD
