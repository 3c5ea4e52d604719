//===- DynOps.td - the ops of dyn -----------------------------------------===//
#ifndef DYN_DYN_OPS_TD
#define DYN_DYN_OPS_TD

include "dialects/Dyn/DynDialect.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Dyn_Op<string mnemonic, list<Trait> traits = []> : Op<Dyn_Dialect, mnemonic, traits>;

def Dyn_Tensor : StaticShapeTensorOf<[F32, F64, I64, I1]>;
def Dyn_Float : StaticShapeTensorOf<[F32, F64]>;

def Dyn_OverKindEnum : I32Enum<"OverKind", "how the elements of an axis are combined", [
    I32EnumCase<"sum", 0>, I32EnumCase<"mean", 1>, I32EnumCase<"max", 2>, I32EnumCase<"min", 3>,
    I32EnumCase<"any", 4>, I32EnumCase<"all", 5>, I32EnumCase<"count", 6>]> {
  let cppNamespace = "::dyn::ir";
}
def Dyn_OverKind : EnumAttr<Dyn_Dialect, Dyn_OverKindEnum, "over">;

def Dyn_SocketKindEnum : I32Enum<"SocketKind", "which moment of a run a socket fills", [
    I32EnumCase<"init", 0>, I32EnumCase<"data", 1>, I32EnumCase<"update", 2>, I32EnumCase<"probe", 3>,
    I32EnumCase<"eval", 4>, I32EnumCase<"report", 5>]> {
  let cppNamespace = "::dyn::ir";
}
def Dyn_SocketKind : EnumAttr<Dyn_Dialect, Dyn_SocketKindEnum, "socket">;

//===----------------------------------------------------------------------===//
// The train
//===----------------------------------------------------------------------===//

def Dyn_TrainOp : Dyn_Op<"train", [Symbol, SymbolTable, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "a train of the spec, elaborated at concrete shapes";
  let description = [{
    Holds one `dyn.objective` at most, the `dyn.socket`s and the `run.program` that calls them in order.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

def Dyn_ObjectiveOp : Dyn_Op<"objective", [Symbol, SingleBlock]> {
  let summary = "the loss as a function of the leaves of the parameter tree";
  let description = [{
    Block argument k is leaf k. Yields one number (and the next states of models, see `dyn.next_states`): a value that carries `example` has been reduced over it, as the
    loss clause does. `batch` is the size of the axis `example`, `feed` what fills it (-1: no data); `masked` when
    a batch may be short. With the attribute `parts` it is of one part of the batch, so many of which make the whole; a last
    argument says which.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$feed, I64Attr:$batch, UnitAttr:$masked);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `feed` $feed `batch` $batch (`masked` $masked^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Dyn_SocketOp : Dyn_Op<"socket", [Symbol, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "code of one moment: initial values, loading data, an update, a probe, an eval";
  let description = [{
    Everything enters by reads and leaves by `run.write`, `run.emit`. Its attributes are those of the objective, for
    values that carry `example` in the socket itself.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Dyn_SocketKind:$kind, I64Attr:$feed, I64Attr:$batch,
                       UnitAttr:$masked);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $kind $sym_name `feed` $feed `batch` $batch (`masked` $masked^)? attr-dict-with-keyword $body
  }];
}

def Dyn_YieldOp
    : Dyn_Op<"yield", [Pure, Terminator, ParentOneOf<["ObjectiveOp", "DerivativeOp", "WithBackwardOp"]>]> {
  let summary = "the value of an objective and the next states of its models; the values of a function";
  let arguments = (ins Variadic<Dyn_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

//===----------------------------------------------------------------------===//
// Hidden axes
//===----------------------------------------------------------------------===//

def Dyn_FieldOp : Dyn_Op<"field", [MemoryEffects<[MemRead]>]> {
  let summary = "a field of the present example";
  let description = [{
    Row of `arena` (an array of `rows` rows) that belongs to the present example: through the row numbers of
    `feed`, or row by row when `feed` is -1 or `whole`. The result carries `example`.
  }];
  let arguments = (ins I64Attr:$arena, I64Attr:$rows, I64Attr:$feed, UnitAttr:$whole, StrAttr:$name);
  let results = (outs Dyn_Tensor:$result);
  let assemblyFormat = [{
    $name `arena` $arena `rows` $rows `feed` $feed (`whole` $whole^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Dyn_RowOp : Dyn_Op<"row", [MemoryEffects<[MemRead]>]> {
  let summary = "the number of the present example in its set";
  let description = [{
    As `dyn.field` finds its row: through `feed`, or in order when `feed` is -1 or `whole`. What makes an example out
    of several rows, such as a window over a text, starts from it. The result carries `example`.
  }];
  let arguments = (ins I64Attr:$feed, UnitAttr:$whole);
  let results = (outs Dyn_Tensor:$result);
  let assemblyFormat = "`feed` $feed (`whole` $whole^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Dyn_StoreOp : Dyn_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes the value of each example of a chunk";
  let description = [{Row r of the arena, from `offset`, becomes the value of example r: what loading data gives.}];
  let arguments = (ins Dyn_Tensor:$value, I64Attr:$arena, I64Attr:$offset, StrAttr:$name);
  let assemblyFormat = "$value `arena` $arena `offset` $offset $name attr-dict `:` type($value)";
}

def Dyn_IndexOp : Dyn_Op<"index", [Pure]> {
  let summary = "an element's own place on a hidden axis";
  let arguments = (ins StrAttr:$axis);
  let results = (outs Dyn_Tensor:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def Dyn_OverOp : Dyn_Op<"over", [Pure]> {
  let summary = "combines the elements of a hidden axis that are there";
  let description = [{
    Elements of `axis` meet here and in `dyn.stack`: `mean(h, over=example)`. Absent elements (of a short last batch, see
    also `dyn.elements`) do not count.
  }];
  let arguments = (ins Dyn_OverKind:$kind, Dyn_Tensor:$input, StrAttr:$axis);
  let results = (outs Dyn_Tensor:$result);
  let assemblyFormat = "$kind $input `axis` $axis attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Dyn_ElementsOp : Dyn_Op<"elements"> {
  let summary = "which elements of a hidden axis are there";
  let description = [{
    Stands at the top of a socket, once for each axis whose elements the batch decides, such as `label`: `present` says of
    each class whether the batch has a row of it, and its shape how many there are. `dyn.over` leaves the others out.
  }];
  let arguments = (ins StrAttr:$axis, StaticShapeTensorOf<[I1]>:$present);
  let assemblyFormat = "$axis `present` $present attr-dict `:` type($present)";
  let hasVerifier = 1;
}

def Dyn_StackOp : Dyn_Op<"stack", [Pure]> {
  let summary = "a hidden axis as a visible dimension in front";
  let description = [{
    `stack(x)`: elements of `axis` meet here as they do in `dyn.over`. The axis has as many elements in every batch.

    ```mlir
    %all = dyn.stack %x axis "example" : tensor<6xf32, #dyn.axes<["example"]>> -> tensor<20x6xf32>
    ```
  }];
  let arguments = (ins Dyn_Tensor:$input, StrAttr:$axis);
  let results = (outs Dyn_Tensor:$result);
  let assemblyFormat = "$input `axis` $axis attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Dyn_UnstackOp : Dyn_Op<"unstack", [Pure]> {
  let summary = "a visible dimension in front as a hidden axis";
  let description = [{The inverse of `dyn.stack`: each element of `axis` has its row.}];
  let arguments = (ins Dyn_Tensor:$input, StrAttr:$axis);
  let results = (outs Dyn_Tensor:$result);
  let assemblyFormat = "$input `axis` $axis attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Dyn_VaryOp : Dyn_Op<"vary", [Pure]> {
  let summary = "the same value for every element of more axes";
  let description = [{Only the encoding changes: the start of a carried value that will vary.}];
  let arguments = (ins Dyn_Tensor:$input);
  let results = (outs Dyn_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Dyn_RecastOp : Dyn_Op<"recast", [Pure, DeclareOpInterfaceMethods<Differentiable, ["buildJvp"]>]> {
  let summary = "the same elements read as a range, leaves or a tree";
  let arguments = (ins Dyn_Tensor:$input);
  let results = (outs Dyn_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Dyn_LeafReduceOp : Dyn_Op<"leaf_reduce", [Pure]> {
  let summary = "a visible reduction of a leaf-wise value: one number a leaf";
  let arguments = (ins Dyn_OverKind:$kind, Dyn_Tensor:$input);
  let results = (outs Dyn_Tensor:$result);
  let assemblyFormat = "$kind $input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Dyn_LeafSpreadOp : Dyn_Op<"leaf_spread", [Pure]> {
  let summary = "each leaf's number at each of its elements";
  let arguments = (ins Dyn_Tensor:$input);
  let results = (outs Dyn_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Derivatives of functions
//===----------------------------------------------------------------------===//

def Dyn_DerivativeModeEnum : I32Enum<"DerivativeMode", "what is asked about a function", [
    I32EnumCase<"forward", 0>, I32EnumCase<"reverse", 1>, I32EnumCase<"jacobian", 2>]> {
  let cppNamespace = "::dyn::ir";
}
def Dyn_DerivativeMode : EnumAttr<Dyn_Dialect, Dyn_DerivativeModeEnum, "mode">;

def Dyn_DerivativeOp : Dyn_Op<"derivative", [AttrSizedOperandSegments]> {
  let summary = "a function's values at a point, and its derivative there";
  let description = [{
    The region is the function: block argument k is point k, `dyn.yield` gives its values y. What it uses from outside
    is constant. Results are the values, then

    - forward: for each value its derivative along `directions`, one a point, J v;
    - reverse: for each point the cotangent that `directions`, one a value, give it, J^T u;
    - jacobian: for each value and each point J itself, with the dimensions of the value, then those of the point.

    Where points and values carry an axis, each element has its own derivative (no element of it may enter another's
    value). `batched` says that the axis has become a leading dimension of all of them. The directions of a jacobian
    are empty. Expanded by dyn-expand-gradients, inner ones first. Example: test/passes/expand/derivatives.mlir.
  }];
  let arguments = (ins Dyn_DerivativeMode:$mode, Variadic<Dyn_Float>:$points, Variadic<Dyn_Float>:$directions,
                       UnitAttr:$batched);
  let results = (outs Variadic<Dyn_Float>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $mode `at` $points (`along` $directions^)? (`batched` $batched^)? attr-dict-with-keyword $body `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The values of the function inside the region.
    ::mlir::OperandRange getValues() { return getBody().front().getTerminator()->getOperands(); }
  }];
}

def Dyn_WithBackwardOp : Dyn_Op<"with_backward", [DeclareOpInterfaceMethods<Differentiable, ["buildJvp"]>]> {
  let summary = "a function whose derivative is written beside it";
  let description = [{
    `function` has the operands as arguments and yields the results. `backward` has the operands, then a cotangent a
    result, and yields a cotangent an operand; it stands for the transposed derivative, so it is linear in the
    cotangents, and the forward derivative is its transpose in turn. dyn-expand-gradients leaves the function alone
    once it has been differentiated.
  }];
  let arguments = (ins Variadic<Dyn_Float>:$inputs);
  let results = (outs Variadic<Dyn_Float>:$results);
  let regions = (region SizedRegion<1>:$function, SizedRegion<1>:$backward);
  let assemblyFormat = [{
    $inputs attr-dict-with-keyword $function `backward` $backward `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// The objective
//===----------------------------------------------------------------------===//

def Dyn_LossOp : Dyn_Op<"loss", [Pure]> {
  let summary = "the objective at a tree, on the present batch";
  let arguments = (ins FlatSymbolRefAttr:$objective, Dyn_Float:$params);
  let results = (outs Dyn_Float:$loss);
  let assemblyFormat = "$objective `at` $params attr-dict `:` type($params) `->` type($loss)";
}

def Dyn_GradientOp : Dyn_Op<"gradient", [Pure]> {
  let summary = "the objective and its gradient at a tree, on the present batch";
  let arguments = (ins FlatSymbolRefAttr:$objective, Dyn_Float:$params);
  let results = (outs Dyn_Float:$loss, Dyn_Float:$gradient);
  let assemblyFormat = "$objective `at` $params attr-dict `:` type($params) `->` type($loss) `,` type($gradient)";
}

def Dyn_PartGradientsOp : Dyn_Op<"part_gradients", [Pure]> {
  let summary = "the objective and its gradient on each part of the present batch";
  let description = [{
    The batch is cut into `parts` runs of equally many rows. Both results carry the axis `part`, which the tree may carry
    too. dyn-batch-example makes the axis a leading dimension of all three, and lets the op name an objective for one part
    (whose last argument is the number of the part); dyn-expand-gradients makes a loop over the parts of it.

    ```mlir
    %l, %g = dyn.part_gradients @loss parts 4 at %p : tensor<6xf32, #dyn.tree<[[2, 3]]>>
        -> tensor<f32, #dyn.axes<["part"]>>, tensor<6xf32, #dyn.axes<["part"], #dyn.tree<[[2, 3]]>>>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$objective, I64Attr:$parts, Dyn_Float:$params);
  let results = (outs Dyn_Float:$losses, Dyn_Float:$gradients);
  let assemblyFormat = [{
    $objective `parts` $parts `at` $params attr-dict `:` type($params) `->` type($losses) `,` type($gradients)
  }];
}

def Dyn_NextStatesOp : Dyn_Op<"next_states", [Pure]> {
  let summary = "what the models of an objective write to their states at a tree, on the present batch";
  let description = [{
    In the order of the objective's `dyn.yield`. Losses and gradients leave the states alone, wherever they are taken:
    who keeps these values is who steps.
  }];
  let arguments = (ins FlatSymbolRefAttr:$objective, Dyn_Float:$params);
  let results = (outs Variadic<Dyn_Tensor>:$states);
  let assemblyFormat = "$objective `at` $params attr-dict `:` type($params) `->` type($states)";
}

#endif // DYN_DYN_OPS_TD
