//===- Passes.td - from dyn to nd and run ---------------------------------===//
#ifndef DYN_PASSES_EXPAND_PASSES_TD
#define DYN_PASSES_EXPAND_PASSES_TD

include "mlir/Pass/PassBase.td"

def BatchExamplePass : Pass<"dyn-batch-example", "::mlir::ModuleOp"> {
  let summary = "makes the axis `example` a leading dimension";
  let description = [{
    In every objective and socket: fields become gathers of the batch's rows, code on them is batched through
    Batchable, `dyn.over` becomes a reduction over the rows that are there. Afterwards no value carries `example`.
    Example: test/passes/expand/batch-example.mlir.
  }];
  let dependentDialects = ["::dyn::nd::NdDialect", "::dyn::run::RunDialect"];
}

def ExpandGradientsPass : Pass<"dyn-expand-gradients", "::mlir::ModuleOp"> {
  let summary = "inlines the objective and differentiates it";
  let description = [{
    `dyn.loss` becomes a copy of the objective at the leaves of the tree; `dyn.gradient` also its reverse mode, whose
    parts are joined to one flat tree, so that each is written straight to its place. A parameter that the objective
    does not depend on is refused: its derivative would be silently zero. Runs after dyn-batch-example.
    Example: test/passes/expand/expand-gradients.mlir.
  }];
  let dependentDialects = ["::dyn::nd::NdDialect"];
}

def ExpandLeavesPass : Pass<"dyn-expand-leaves", "::mlir::ModuleOp"> {
  let summary = "drops encodings and makes sockets functions";
  let description = [{
    A leaf-wise value is the flat range it always was; `dyn.leaf_reduce` and `dyn.leaf_spread` become segmented ops.
    The train's sockets and program move to the module. Afterwards no op or encoding of dyn is left.
    Example: test/passes/expand/expand-leaves.mlir.
  }];
  let dependentDialects = ["::dyn::nd::NdDialect", "::mlir::func::FuncDialect"];
}

def MergeReadsPass : Pass<"merge-reads", "::mlir::func::FuncOp"> {
  let summary = "what was read before is not read again";
  let description = [{
    A read of the same elements of an arena, or of the same facts of the batch or the clock, with no write to them in
    between, is the earlier one. Common subexpressions are then found across emits and guards: the gradients of single
    examples share their forward pass with the loss. Example: test/passes/expand/merge-reads.mlir.
  }];
}

#endif // DYN_PASSES_EXPAND_PASSES_TD
