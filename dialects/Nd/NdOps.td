//===- NdOps.td - the ops of nd -------------------------------------------===//
//
// Elementwise ops are in NdElementwise.td; here are those with a shape rule of
// their own, and those with regions.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_ND_OPS_TD
#define DYN_ND_OPS_TD

include "dialects/Nd/NdElementwise.td"

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

def Nd_ConstantOp : Nd_Op<"constant", [ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "dense or splat value";
  let description = [{
    The value of an elements attribute; the result has the attribute's type.

    ```mlir
    %c = nd.constant dense<[1.0, 2.0]> : tensor<2xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Nd_Any:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Nd_IotaOp : Nd_Op<"iota"> {
  let summary = "position along a dimension";
  let description = [{
    Element `[i0, …, in]` is `i_dim`. Error: `dim` is not a dimension of the result.

    ```mlir
    %i = nd.iota dim 1 : tensor<4x8xi64>
    ```
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs Nd_I64Tensor:$result);
  let assemblyFormat = "`dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Nd_DrawOp : Nd_Op<"draw"> {
  let summary = "counter-based random numbers";
  let description = [{
    Element i of the result (row-major) is a function of the seed of `stream`, of `site`, of the four words of
    `counter` (step, pass, 0, 0) and of `base + i`, through Philox 4x32-10: the same arguments give the same
    numbers, so a draw is pure. `uniform` is in [0, 1), `normal` standard, both f32 or f64; `bits` gives i64.
    Error: the element type does not fit the distribution.

    ```mlir
    %z = nd.draw normal noise %counter, %base site 3 : tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Nd_Dist:$dist, Nd_Stream:$stream, TensorOf<[I64]>:$counter, TensorOf<[I64]>:$base,
                       I64Attr:$site);
  let results = (outs Nd_Any:$result);
  let assemblyFormat = [{
    `` $dist `` $stream $counter `,` $base `site` $site attr-dict `:` `(` type($counter) `,` type($base) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

def Nd_BroadcastOp : Nd_Op<"broadcast"> {
  let summary = "repeats a value along new dimensions";
  let description = [{
    Operand dimension i becomes result dimension `dims[i]`, of the same size; all other result dimensions are
    new. `dims` increases strictly. Errors: `dims` has not one entry for each operand dimension, is out of range
    or does not increase; a size differs.

    ```mlir
    %y = nd.broadcast %x dims [1] : tensor<4xf32> -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Nd_Any:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Nd_Any:$result);
  let assemblyFormat = "$input `dims` $dims attr-dict `:` type($input) `->` type($result)";
  let builders = [
    // Result of `shape`, with the input's element type and encoding.
    OpBuilder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$shape, "::llvm::ArrayRef<int64_t>":$dims)>
  ];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Nd_ReshapeOp : Nd_Op<"reshape"> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    Error: the numbers of elements differ.

    ```mlir
    %y = nd.reshape %x : tensor<8x4xf32> -> tensor<32xf32>
    ```
  }];
  let arguments = (ins Nd_Any:$input);
  let results = (outs Nd_Any:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let builders = [
    // Result of `shape`, with the input's element type and encoding.
    OpBuilder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$shape)>
  ];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Nd_TransposeOp : Nd_Op<"transpose", [InferTypeOpAdaptor]> {
  let summary = "permutes dimensions";
  let description = [{
    Result dimension i is operand dimension `perm[i]`. Error: `perm` is not a permutation of the dimensions.

    ```mlir
    %y = nd.transpose %x perm [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Nd_Any:$input, DenseI64ArrayAttr:$perm);
  let results = (outs Nd_Any:$result);
  let assemblyFormat = "$input `perm` $perm attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
}

def Nd_SliceOp : Nd_Op<"slice", [InferTypeOpAdaptor]> {
  let summary = "a strided box of a value";
  let description = [{
    Result element `[i…]` is operand element `[offsets + strides * i…]`; the result has shape `sizes`. Errors:
    an entry is missing, a stride is not positive, the box leaves the operand.

    ```mlir
    %y = nd.slice %x offsets [0, 2] sizes [8, 2] strides [1, 1] : tensor<8x4xf32> -> tensor<8x2xf32>
    ```
  }];
  let arguments = (ins Nd_Any:$input, DenseI64ArrayAttr:$offsets, DenseI64ArrayAttr:$sizes,
                       DenseI64ArrayAttr:$strides);
  let results = (outs Nd_Any:$result);
  let assemblyFormat = [{
    $input `offsets` $offsets `sizes` $sizes `strides` $strides attr-dict `:` type($input) `->` type($result)
  }];
  let hasFolder = 1;
}

def Nd_PadOp : Nd_Op<"pad", [InferTypeOpAdaptor]> {
  let summary = "adds zeros at both ends of dimensions";
  let description = [{
    Dimension d grows by `low[d]` zeros before and `high[d]` after. Errors: an entry is missing or negative.

    ```mlir
    %y = nd.pad %x low [0, 1] high [0, 1] : tensor<8x4xf32> -> tensor<8x6xf32>
    ```
  }];
  let arguments = (ins Nd_Any:$input, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high);
  let results = (outs Nd_Any:$result);
  let assemblyFormat = "$input `low` $low `high` $high attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
}

def Nd_ConcatOp : Nd_Op<"concat", [InferTypeOpAdaptor]> {
  let summary = "values one after the other along a dimension";
  let description = [{
    Any positive number of operands of equal rank and element type, whose sizes agree but along `dim`.

    ```mlir
    %y = nd.concat %a, %b dim 0 : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
    ```
  }];
  let arguments = (ins Variadic<Nd_Any>:$inputs, I64Attr:$dim);
  let results = (outs Nd_Any:$result);
  let assemblyFormat = "$inputs `dim` $dim attr-dict `:` functional-type($inputs, results)";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

def Nd_GatherOp : Nd_Op<"gather", [InferTypeOpAdaptor]> {
  let summary = "elements at given positions along a dimension";
  let description = [{
    Result shape: `x[:dim] ++ indices ++ x[dim+1:]`. An index outside [0, size of `dim`) stops the run.

    ```mlir
    %y = nd.gather %x, %i dim 0 : (tensor<10x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
    ```
  }];
  let arguments = (ins Nd_Any:$input, Nd_I64Tensor:$indices, I64Attr:$dim);
  let results = (outs Nd_Any:$result);
  let assemblyFormat = "$input `,` $indices `dim` $dim attr-dict `:` functional-type(operands, results)";
}

def Nd_ScatterOp : Nd_Op<"scatter", [InferTypeOpAdaptor]> {
  let summary = "adds or sets elements at given positions along a dimension";
  let description = [{
    The result is `base` after, in row-major order of `indices`, the slice of `updates` at each index was added
    to (`add`, the transpose of gather) or put in place of (`set`; the last one wins) the slice of `base` there.
    `updates` has shape `base[:dim] ++ indices ++ base[dim+1:]`. An index out of range stops the run.

    ```mlir
    %y = nd.scatter add %x, %i, %u dim 0 : (tensor<10x4xf32>, tensor<3xi64>, tensor<3x4xf32>) -> tensor<10x4xf32>
    ```
  }];
  let arguments = (ins Nd_Any:$base, Nd_I64Tensor:$indices, Nd_Any:$updates, Nd_ScatterMode:$mode, I64Attr:$dim);
  let results = (outs Nd_Any:$result);
  let assemblyFormat = [{
    `` $mode $base `,` $indices `,` $updates `dim` $dim attr-dict `:` functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

def Nd_ReduceOp : Nd_Op<"reduce", [InferTypeOpAdaptor]> {
  let summary = "combines all elements along dimensions";
  let description = [{
    Removes `dims` (increasing). `sum prod max min` take numbers, `any all` booleans. Over nothing: 0, 1, -inf,
    inf, false, true (the least and greatest i64 for whole numbers). max and min give nan if any element is nan.

    ```mlir
    %s = nd.reduce sum %x dims [0] : tensor<8x4xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Nd_Any:$input, Nd_ReduceKind:$kind, DenseI64ArrayAttr:$dims);
  let results = (outs Nd_Any:$result);
  let assemblyFormat = "`` $kind $input `dims` $dims attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
}

def Nd_ArgReduceOp : Nd_Op<"arg_reduce", [InferTypeOpAdaptor]> {
  let summary = "position of the greatest or least element along a dimension";
  let description = [{
    Ties go to the first; a nan counts as greatest (least for `min`), the first nan wins. Errors: `dim` is out of
    range or has size 0; `kind` is not max or min.

    ```mlir
    %i = nd.arg_reduce max %x dim 1 : tensor<8x4xf32> -> tensor<8xi64>
    ```
  }];
  let arguments = (ins Nd_Number:$input, Nd_ReduceKind:$kind, I64Attr:$dim);
  let results = (outs Nd_I64Tensor:$result);
  let assemblyFormat = "`` $kind $input `dim` $dim attr-dict `:` type($input) `->` type($result)";
}

def Nd_ContractOp : Nd_Op<"contract", [InferTypeOpAdaptor]> {
  let summary = "product of two values summed over shared letters";
  let description = [{
    Einstein notation: each dimension of an operand has a letter; the result has the dimensions of `out`; the
    product is summed over every letter not in `out`. A letter occurs at most once in an operand and in `out`;
    every letter of `out` occurs in an operand; a letter has one size.

    ```mlir
    %y = nd.contract %a, %b "ik", "kj" -> "ij" : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
    ```
  }];
  let arguments = (ins Nd_Float:$a, Nd_Float:$b, StrAttr:$lhs, StrAttr:$rhs, StrAttr:$out);
  let results = (outs Nd_Float:$result);
  let assemblyFormat = [{
    $a `,` $b $lhs `,` $rhs `->` $out attr-dict `:` functional-type(operands, results)
  }];
  let hasCanonicalizer = 1;
}

def Nd_SegmentReduceOp : Nd_Op<"segment_reduce", [InferTypeOpAdaptor]> {
  let summary = "one value for each piece of a range";
  let description = [{
    Element s combines operand elements `offsets[s]` to `offsets[s+1]` (exclusive); empty pieces as in reduce.
    Errors: the operand is not one-dimensional; `offsets` does not rise from 0 to its size.

    ```mlir
    %n = nd.segment_reduce sum %x offsets [0, 640, 650] : tensor<650xf32> -> tensor<2xf32>
    ```
  }];
  let arguments = (ins Nd_Any:$input, Nd_ReduceKind:$kind, DenseI64ArrayAttr:$offsets);
  let results = (outs Nd_Any:$result);
  let assemblyFormat = "`` $kind $input `offsets` $offsets attr-dict `:` type($input) `->` type($result)";
}

def Nd_SegmentSpreadOp : Nd_Op<"segment_spread", [InferTypeOpAdaptor]> {
  let summary = "value s at each place of piece s";
  let description = [{
    The transpose of a segmented sum. Errors: the operand is not one-dimensional with one element a piece;
    `offsets` does not rise from 0.

    ```mlir
    %y = nd.segment_spread %n offsets [0, 640, 650] : tensor<2xf32> -> tensor<650xf32>
    ```
  }];
  let arguments = (ins Nd_Any:$input, DenseI64ArrayAttr:$offsets);
  let results = (outs Nd_Any:$result);
  let assemblyFormat = "$input `offsets` $offsets attr-dict `:` type($input) `->` type($result)";
}

def Nd_CumulateOp : Nd_Op<"cumulate", [InferTypeOpAdaptor]> {
  let summary = "running sum, product or maximum along a dimension";
  let description = [{
    Element i combines elements 0 to i (inclusive). Errors: `dim` is out of range; `kind` is not sum, prod, max.

    ```mlir
    %y = nd.cumulate sum %x dim 0 : tensor<8xf32> -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Nd_Number:$input, Nd_ReduceKind:$kind, I64Attr:$dim);
  let results = (outs Nd_Number:$result);
  let assemblyFormat = "`` $kind $input `dim` $dim attr-dict `:` type($input) `->` type($result)";
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

class Nd_RegionOp<string mnemonic, list<Trait> traits = []>
    : Nd_BaseOp<mnemonic, !listconcat([RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock], traits)>;

def Nd_ScanOp : Nd_RegionOp<"scan", [AttrSizedOperandSegments]> {
  let summary = "a loop that carries values and stacks others";
  let description = [{
    Runs the body `trip` times with `(i, carries…, rows…)`: the pass number (tensor<i64>), the carried values
    (first `inits`), and row i of each of `xs`, whose leading dimension is `trip`. The body yields the next
    carries, then any number of values to stack. Results: the last carries, then the stacks (leading dimension
    `trip`). With `reverse`, i runs from trip-1 to 0. The body may use values from outside.

    ```mlir
    %r:2 = nd.scan inits(%a : tensor<f32>) xs(%x : tensor<10x4xf32>) trip 10 {
    ^bb0(%i: tensor<i64>, %c: tensor<f32>, %row: tensor<4xf32>):
      …
      nd.yield %c2, %y : tensor<f32>, tensor<3xf32>
    } : tensor<f32>, tensor<10x3xf32>
    ```
  }];
  let arguments = (ins Variadic<Nd_Any>:$inits, Variadic<Nd_Any>:$xs, I64Attr:$trip, UnitAttr:$reverse);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Nd_Any>:$results);
  let assemblyFormat = [{
    `inits` `(` ($inits^ `:` type($inits))? `)` `xs` `(` ($xs^ `:` type($xs))? `)` `trip` $trip
    (`reverse` $reverse^)? attr-dict-with-keyword $body (`:` type($results)^)?
  }];
  let skipDefaultBuilders = 1;
  let builders = [
    // `body` gets (i, carries, rows) and returns the next carries, then the values to stack.
    OpBuilder<(ins "::mlir::ValueRange":$inits, "::mlir::ValueRange":$xs, "int64_t":$trip, "bool":$reverse,
      "::llvm::function_ref<::llvm::SmallVector<::mlir::Value>(::mlir::OpBuilder &, ::mlir::Location, "
      "::mlir::Value, ::mlir::ValueRange, ::mlir::ValueRange)>":$body)>
  ];
  let extraClassDeclaration = [{
    ::mlir::Value getIndexArg() { return getBody().getArgument(0); }
    ::mlir::ValueRange getCarryArgs() { return getBody().getArguments().slice(1, getInits().size()); }
    ::mlir::ValueRange getRowArgs() { return getBody().getArguments().drop_front(1 + getInits().size()); }
    ::mlir::Operation *getYield() { return getBody().front().getTerminator(); }
  }];
  let hasVerifier = 1;
}

def Nd_WhileOp : Nd_RegionOp<"while"> {
  let summary = "repeats while a condition holds";
  let description = [{
    Before each pass the condition region gets the carried values and yields a tensor<i1>; while it is true the
    body yields the next ones. Results: the last carried values, then the number of passes made (tensor<i64>).
    Reaching `limit` passes with the condition still true stops the run.

    ```mlir
    %r:2 = nd.while inits(%a : tensor<f32>) limit 100 cond {
    ^bb0(%c: tensor<f32>):
      nd.yield %go : tensor<i1>
    } body {
    ^bb0(%c: tensor<f32>):
      nd.yield %next : tensor<f32>
    } : tensor<f32>, tensor<i64>
    ```
  }];
  let arguments = (ins Variadic<Nd_Any>:$inits, I64Attr:$limit);
  let regions = (region SizedRegion<1>:$condition, SizedRegion<1>:$body);
  let results = (outs Variadic<Nd_Any>:$results);
  let assemblyFormat = [{
    `inits` `(` ($inits^ `:` type($inits))? `)` `limit` $limit attr-dict-with-keyword
    `cond` $condition `body` $body `:` type($results)
  }];
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "::mlir::ValueRange":$inits, "int64_t":$limit,
      "::llvm::function_ref<::mlir::Value(::mlir::OpBuilder &, ::mlir::Location, ::mlir::ValueRange)>":$condition,
      "::llvm::function_ref<::llvm::SmallVector<::mlir::Value>(::mlir::OpBuilder &, ::mlir::Location, "
      "::mlir::ValueRange)>":$body)>
  ];
  let hasVerifier = 1;
}

def Nd_CondOp : Nd_RegionOp<"cond"> {
  let summary = "one of two regions by a scalar condition";
  let description = [{
    Runs the first region if the condition is true, else the second; results are what it yields. Regions have no
    arguments and use values from outside.

    ```mlir
    %r = nd.cond %c then {
      nd.yield %a : tensor<4xf32>
    } else {
      nd.yield %b : tensor<4xf32>
    } : tensor<i1> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins TensorOf<[I1]>:$condition);
  let regions = (region SizedRegion<1>:$thenRegion, SizedRegion<1>:$elseRegion);
  let results = (outs Variadic<Nd_Any>:$results);
  let assemblyFormat = [{
    $condition `then` $thenRegion `else` $elseRegion attr-dict `:` type($condition) (`->` type($results)^)?
  }];
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "::mlir::Value":$condition,
      "::llvm::function_ref<::llvm::SmallVector<::mlir::Value>(::mlir::OpBuilder &, ::mlir::Location)>":$thenBody,
      "::llvm::function_ref<::llvm::SmallVector<::mlir::Value>(::mlir::OpBuilder &, ::mlir::Location)>":$elseBody)>
  ];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Nd_YieldOp : Op<Nd_Dialect, "yield", [Pure, Terminator, ParentOneOf<["ScanOp", "WhileOp", "CondOp"]>]> {
  let summary = "ends a region";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ /* nothing to yield */ }]>];
}

#endif // DYN_ND_OPS_TD
