//===- KernelOps.td - what a step consists of once it is fused ------------===//
//
// Between nd (arrays) and llvm (loops): a function is a list of loop nests and
// library products over whole arrays, plus scalar code. Inside a loop nest the
// program is still written in nd; it is read as "the value at one index".
//
//===----------------------------------------------------------------------===//
#ifndef DYN_KERNEL_OPS_TD
#define DYN_KERNEL_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::dyn::kernel";
  let summary = "Fused loops and library products.";
  let description = [{
    `kernel.fused` is one loop nest with several outputs, `kernel.product` one call of the matrix product,
    `kernel.call` one of another routine of the runtime, `kernel.launch` what a loop becomes where a device runs it. After `plan-memory` every op that makes arrays carries `places`, one for each result.
  }];
  let useDefaultAttributePrinterParser = 1;
}

def Kernel_FormEnum : I32EnumAttr<"Form", "how a fused loop goes over its domain",
    [I32EnumAttrCase<"map", 0>, I32EnumAttrCase<"row", 1>, I32EnumAttrCase<"total", 2>]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::dyn::kernel";
}
def Kernel_Form : EnumAttr<Kernel_Dialect, Kernel_FormEnum, "form">;

class Kernel_Op<string mnemonic, list<Trait> traits = []> : Op<Kernel_Dialect, mnemonic, traits>;

def Kernel_FusedOp : Kernel_Op<"fused", [Pure, IsolatedFromAbove, SingleBlock]> {
  let summary = "one loop nest over a common domain";
  let description = [{
    The body holds nd ops on whole arrays; the loop computes for each index of `domain` what the yielded values are
    there. Forms:

    - `map`: yielded values have the shape of the domain; reductions inside are loops at each index.
    - `row`: the domain is [R…, N]; yielded values have shape [R…, N] or [R…]. Reductions go over the last
      dimension; what they give is used again in the same row.
    - `total`: yielded values have the shape of the domain, or are reductions of all of it (rank 0), made block
      by block in an order that depends on the shape only.

    With `epilogue` the rows run as the tail of the product that defines an input, while its rows are in cache.
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, Kernel_Form:$form, DenseI64ArrayAttr:$domain, UnitAttr:$epilogue);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $form $domain (`epilogue` $epilogue^)? `(` $inputs `)` attr-dict-with-keyword `:` functional-type($inputs, $results)
    $body
  }];
  let hasVerifier = 1;
}

def Kernel_ProductOp : Kernel_Op<"product", [Pure]> {
  let summary = "a matrix product by the library";
  let description = [{
    C = A B over row-major matrices: A is [m, k] (or [k, m] with `transposeA`), B is [k, n] (or [n, k] with
    `transposeB`), each with the same leading batch dimension or none. `product` numbers the plan's products
    once memory is planned.

    With `window`, the numbers of a `plan::Window` (runtime/Window.h), one side is a window that slides over images and
    is never stored: filters and images give all places, places and images the sums for the filters, filters and
    places the images. Filters are [groups, m, k], places [images, groups m, n], sums [groups, k, m].
  }];
  let arguments = (ins AnyType:$a, AnyType:$b, UnitAttr:$transposeA, UnitAttr:$transposeB,
                       OptionalAttr<DenseI64ArrayAttr>:$window, DefaultValuedAttr<I64Attr, "-1">:$product);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $a (`t` $transposeA^)? `,` $b (`t` $transposeB^)? (`window` $window^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Kernel_CallOp : Kernel_Op<"call", [Pure]> {
  let summary = "one call of a routine of the runtime";
  let description = [{
    What `call-library` makes of an op that is neither a loop nor a product (`nd.argsort`, `nd.svd`, …). The routine is
    a row of runtime/Functions.def; it gets `numbers` and the addresses of all inputs and results. The last result may be
    bytes that nobody reads: the scratch memory of the routine, which `plan-memory` places like any other array. With
    `fails` the run may stop here.

    ```mlir
    %p, %scratch = kernel.call "dyn_argsort" [1, 8, 1, 1, 0, 8] (%x) : (tensor<8xf32>) -> (tensor<8xi64>, tensor<256xi8>)
    ```
  }];
  let arguments = (ins StrAttr:$routine, DenseI64ArrayAttr:$numbers, UnitAttr:$fails, Variadic<AnyType>:$inputs);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $routine $numbers (`fails` $fails^)? `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)
  }];
}

def Kernel_LaunchOp : Kernel_Op<"launch"> {
  let summary = "a kernel of a device, on blocks of threads";
  let description = [{
    What `map-kernels` makes of a loop. `kernel` is a `gpu.func` of the module that takes each input (a scalar, or the
    address of an array), then the address of each result. With `finish`, a second kernel follows that one thread runs
    on the addresses of the scalar results: it puts together what the blocks left there. Results have `places`.
  }];
  let arguments = (ins SymbolRefAttr:$kernel, I64Attr:$blocks, I64Attr:$threads, Variadic<AnyType>:$inputs,
                       OptionalAttr<SymbolRefAttr>:$finish);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $kernel `blocks` $blocks `threads` $threads (`finish` $finish^)? `(` $inputs `)` attr-dict `:`
    functional-type($inputs, $results)
  }];
}

def Kernel_YieldOp : Kernel_Op<"yield", [Pure, Terminator, HasParent<"FusedOp">]> {
  let summary = "ends a fused body";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // DYN_KERNEL_OPS_TD
