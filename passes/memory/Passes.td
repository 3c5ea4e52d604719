//===- Passes.td - passes that give arrays their places -------------------===//
#ifndef DYN_PASSES_MEMORY_TD
#define DYN_PASSES_MEMORY_TD

include "mlir/Pass/PassBase.td"

def PlanMemoryPass : Pass<"plan-memory", "::mlir::ModuleOp"> {
  let summary = "every array gets its place in an arena";
  let description = [{
    Adds `places` to each op that makes arrays: one `[arena, byte offset, bytes a pass]` for each result (the last
    for a row of an enclosing scan's stack; `[]` for scalars). Nothing is allocated while a program runs.

    1. Homes, last op first: what a `run.write` stores, a `concat` joins or a region yields is made directly where
       it goes, when no one needs what was there before. An update rule so writes its arenas in place, and
       derivatives write their slots of the gradient.
    2. Whatever is left gets room in the work arena. Two arrays share bytes when they do not live at the same time;
       an elementwise loop writes over an input that ends with it.

    Reshapes and contiguous slices have no place of their own. A `run.read` has one only if its elements must be
    kept from a later write. The module's `kernel.work_bytes` is the peak; the arena's number is the attribute
    `kernel.work_arena`, by default one more than the largest that the module names.

    Example: test/passes/memory/plan-memory.mlir.
  }];
  let dependentDialects = ["::dyn::kernel::KernelDialect"];
}

#endif // DYN_PASSES_MEMORY_TD
