//===- RunOps.td - the ordered world around a step ------------------------===//
//
// Everything that nd cannot say: what is read and written, when, and in which
// order. Numbers in attributes (arena, feed, metric, event, site) are those of
// the plan (runtime/Plan.h).
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUN_OPS_TD
#define DYN_RUN_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Run_Dialect : Dialect {
  let name = "run";
  let cppNamespace = "::dyn::run";
  let summary = "Effects in order: arenas, batches, metrics, the loop.";
  let useDefaultAttributePrinterParser = 1;
}

def Run_ClockKindEnum : I32Enum<"ClockKind", "what a clock counts; numbered as the fields of DynClock",
    [I32EnumCase<"step", 0>, I32EnumCase<"total", 1>, I32EnumCase<"epoch", 2>, I32EnumCase<"rows_base", 3>]> {
  let cppNamespace = "::dyn::run";
}
def Run_ClockKind : EnumAttr<Run_Dialect, Run_ClockKindEnum, "clock">;

// What ops read and write. All arenas are one resource: reads with no write between them are the same.
def Run_Arena : Resource<"::dyn::run::ArenaResource">;
def Run_Clock : Resource<"::dyn::run::ClockResource">;
def Run_Batch : Resource<"::dyn::run::BatchResource">;
def Run_Metrics : Resource<"::dyn::run::MetricsResource">;
def Run_Status : Resource<"::dyn::run::StatusResource">;

// Static, and without hidden axes: those are gone when effects appear.
def Run_Tensor : Type<And<[StaticShapeTensorOf<[F32, F64, I64, I1]>.predicate,
    CPred<"!::llvm::cast<::mlir::RankedTensorType>($_self).getEncoding()">]>,
  "statically shaped tensor of f32, f64, i64 or i1 without hidden axes", "::mlir::RankedTensorType">;
def Run_Index : ConfinedAttr<I64Attr, [IntNonNegative]>;

class Run_Op<string mnemonic, list<Trait> traits = []> : Op<Run_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// What enters
//===----------------------------------------------------------------------===//

def Run_NumberOp : Run_Op<"number", [Pure]> {
  let summary = "a runtime operand";
  let description = [{
    Number `index` of the plan, always f64. It does not change during a run.

    ```mlir
    %lr = run.number 0 "adamw.lr" : tensor<f64>
    ```
  }];
  let arguments = (ins Run_Index:$index, StrAttr:$name);
  let results = (outs Run_Tensor:$result);
  let assemblyFormat = "$index $name attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "int64_t":$index, "::llvm::StringRef":$name), [{
    build($_builder, $_state, ::mlir::RankedTensorType::get({}, $_builder.getF64Type()), index, name);
  }]>];
  let hasVerifier = 1;
}

def Run_ClockOp : Run_Op<"clock", [MemoryEffects<[MemRead<Run_Clock>]>]> {
  let summary = "a count of the run";
  let description = [{
    Updates made so far, updates planned, whole passes made, or the first row of a data function's chunk.

    ```mlir
    %t = run.clock step : tensor<i64>
    ```
  }];
  let arguments = (ins Run_ClockKind:$kind);
  let results = (outs Run_Tensor:$result);
  let assemblyFormat = "`` $kind attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "::dyn::run::ClockKind":$kind), [{
    build($_builder, $_state, ::mlir::RankedTensorType::get({}, $_builder.getI64Type()), kind);
  }]>];
  let hasVerifier = 1;
}

def Run_ReadOp : Run_Op<"read", [MemoryEffects<[MemRead<Run_Arena>]>]> {
  let summary = "elements of an arena as they are now";
  let description = [{
    The elements from `offset` on, in units of the result's element type. `name` is for readers.

    ```mlir
    %w = run.read arena 0 offset 640 "net.W" : tensor<64x10xf32>
    ```
  }];
  let arguments = (ins Run_Index:$arena, Run_Index:$offset, StrAttr:$name);
  let results = (outs Run_Tensor:$result);
  let assemblyFormat = "`arena` $arena `offset` $offset $name attr-dict `:` type($result)";
}

def Run_RowsOp : Run_Op<"rows", [MemoryEffects<[MemRead<Run_Batch>]>]> {
  let summary = "row numbers of the present batch";
  let description = [{
    As many as the batch's capacity; those from `run.count` on are 0.

    ```mlir
    %rows = run.rows feed 0 : tensor<32xi64>
    ```
  }];
  let arguments = (ins Run_Index:$feed);
  let results = (outs Run_Tensor:$result);
  let assemblyFormat = "`feed` $feed attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Run_CountOp : Run_Op<"count", [MemoryEffects<[MemRead<Run_Batch>]>]> {
  let summary = "how many rows of the present batch are there";
  let description = [{
    ```mlir
    %n = run.count feed 0 : tensor<i64>
    ```
  }];
  let arguments = (ins Run_Index:$feed);
  let results = (outs Run_Tensor:$result);
  let assemblyFormat = "`feed` $feed attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "int64_t":$feed), [{
    build($_builder, $_state, ::mlir::RankedTensorType::get({}, $_builder.getI64Type()), feed);
  }]>];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// What leaves
//===----------------------------------------------------------------------===//

def Run_WriteOp : Run_Op<"write", [MemoryEffects<[MemWrite<Run_Arena>]>]> {
  let summary = "changes elements of an arena in place";
  let description = [{
    At this point of the order: reads before it see the old elements, reads after it the new ones.

    ```mlir
    run.write %w arena 0 offset 640 "net.W" : tensor<64x10xf32>
    ```
  }];
  let arguments = (ins Run_Tensor:$value, Run_Index:$arena, Run_Index:$offset, StrAttr:$name);
  let assemblyFormat = "$value `arena` $arena `offset` $offset $name attr-dict `:` type($value)";
}

def Run_EmitOp : Run_Op<"emit", [MemoryEffects<[MemWrite<Run_Metrics>]>]> {
  let summary = "hands a metric's value to the metrics ring";
  let description = [{
    ```mlir
    run.emit %loss metric 0 : tensor<f32>
    ```
  }];
  let arguments = (ins Run_Tensor:$value, Run_Index:$metric);
  let assemblyFormat = "$value `metric` $metric attr-dict `:` type($value)";
}

def Run_GuardOp : Run_Op<"guard", [MemoryEffects<[MemWrite<Run_Status>]>]> {
  let summary = "stops the run when a value is not finite";
  let description = [{
    `site` is the plan's number of the place; `what` is the value as the spec calls it.

    ```mlir
    run.guard %loss site 0 "loss" : tensor<f32>
    ```
  }];
  let arguments = (ins Run_Tensor:$value, Run_Index:$site, StrAttr:$what);
  let assemblyFormat = "$value `site` $site $what attr-dict `:` type($value)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// The order
//===----------------------------------------------------------------------===//

class Run_BlockOp<string mnemonic, list<Trait> traits = []>
    : Run_Op<mnemonic, !listconcat([SingleBlock, NoTerminator], traits)>;

def Run_ProgramOp : Run_BlockOp<"program", [Symbol]> {
  let summary = "the entry point: all that happens in a run, in order";
  let description = [{
    ```mlir
    run.program @dyn_main {
      run.call @init
      run.loop {
        run.next_batch feed 0
        run.call @step
        run.step_done
        run.when_due event 0 { run.call @validate }
      }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name), [{
    $_state.getOrAddProperties<Properties>().sym_name = $_builder.getStringAttr(name);
    $_state.addRegion()->emplaceBlock();
  }]>];
}

def Run_LoopOp : Run_BlockOp<"loop"> {
  let summary = "repeats while steps remain and nothing went wrong";
  let description = [{
    Asks dyn_loop_next before each pass.
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins), [{ $_state.addRegion()->emplaceBlock(); }]>];
}

def Run_WhenDueOp : Run_BlockOp<"when_due"> {
  let summary = "what happens when an event of the plan is due";
  let arguments = (ins Run_Index:$event);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`event` $event attr-dict-with-keyword $body";
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "int64_t":$event), [{
    $_state.getOrAddProperties<Properties>().event = $_builder.getI64IntegerAttr(event);
    $_state.addRegion()->emplaceBlock();
  }]>];
}

def Run_ForBatchesOp : Run_BlockOp<"for_batches"> {
  let summary = "once for each batch of a feed, in order, from the first";
  let arguments = (ins Run_Index:$feed);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`feed` $feed attr-dict-with-keyword $body";
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "int64_t":$feed), [{
    $_state.getOrAddProperties<Properties>().feed = $_builder.getI64IntegerAttr(feed);
    $_state.addRegion()->emplaceBlock();
  }]>];
}

def Run_NextBatchOp : Run_Op<"next_batch", [MemoryEffects<[MemWrite<Run_Batch>, MemWrite<Run_Clock>]>]> {
  let summary = "draws the next batch of a feed";
  let arguments = (ins Run_Index:$feed);
  let assemblyFormat = "`feed` $feed attr-dict";
}

def Run_StepDoneOp : Run_Op<"step_done", [MemoryEffects<[MemWrite<Run_Clock>]>]> {
  let summary = "advances the clock by one update";
  let assemblyFormat = "attr-dict";
}

def Run_CallOp : Run_Op<"call", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a function of effects";
  let description = [{
    The function takes nothing and gives nothing. Error: it is absent or of another type.

    ```mlir
    run.call @step
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee);
  let assemblyFormat = "$callee attr-dict";
}

#endif // DYN_RUN_OPS_TD
