//===- NdLibraryOps.td - ops that a routine of the runtime does -----------===//
//
// Sorting, decompositions of matrices, Fourier transforms: neither loops over
// elements nor products. Each says through LibraryCall which function of
// runtime/Functions.def does it, with which numbers, and how much memory it
// needs beside operands and results. The lowering asks nothing else, so a new
// op of this kind is a definition here, its rules, and a routine.
//
// Decompositions act on the last two dimensions; those before are a batch. An
// operand with an element that is not finite gives results that are nan.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_ND_LIBRARY_OPS_TD
#define DYN_ND_LIBRARY_OPS_TD

include "dialects/Nd/NdBase.td"

def LibraryCall : OpInterface<"LibraryCall"> {
  let cppNamespace = "::dyn::nd";
  let description = [{
    What the call of a routine consists of. The routine gets the numbers, the addresses of all operands, of all
    results, and of its scratch memory, in this order (runtime/Functions.def).
  }];
  let methods = [
    InterfaceMethod<"The row of Functions.def.", "::llvm::StringRef", "getRoutine">,
    InterfaceMethod<"Sizes, as the routine's row lists them.", "::llvm::SmallVector<int64_t>", "getNumbers">,
    InterfaceMethod<"Bytes that the routine writes besides its results.", "int64_t", "getScratchBytes">,
    InterfaceMethod<"Whether there are operands without a result: the run then stops at this op.", "bool", "canFail",
                    (ins), /*methodBody=*/"", /*defaultImplementation=*/"return true;">,
  ];
}

class Nd_LibraryOp<string mnemonic, list<string> own = []>
    : Nd_Op<mnemonic, [InferTypeOpAdaptor,
                       DeclareOpInterfaceMethods<LibraryCall, own>]>;

def Nd_ArgSortOp : Nd_LibraryOp<"argsort", ["canFail"]> {
  let summary = "the places of the elements along a dimension in rising order";
  let description = [{
    Result element i along `dim` is the place of the i-th least element. Equal elements keep their order, -0 and 0 are
    equal, nan comes last. With `offsets`, which needs a one-dimensional operand, each piece
    `offsets[s]` to `offsets[s+1]` is sorted by itself, its places count from the beginning of the operand. Errors:
    `dim` is out of range; `offsets` does not rise from 0 to the operand's size.

    ```mlir
    %p = nd.argsort %x dim 1 : (tensor<8x4xf32>) -> tensor<8x4xi64>
    %q = nd.argsort %y dim 0 offsets [0, 640, 650] : (tensor<650xf32>) -> tensor<650xi64>
    ```
  }];
  let arguments = (ins Nd_Number:$input, I64Attr:$dim, OptionalAttr<DenseI64ArrayAttr>:$offsets);
  let results = (outs Nd_I64Tensor:$result);
  let assemblyFormat = "$input `dim` $dim (`offsets` $offsets^)? attr-dict `:` functional-type(operands, results)";
}

def Nd_CholeskyOp : Nd_LibraryOp<"cholesky"> {
  let summary = "lower triangular L with A = L L^T";
  let description = [{
    Of the symmetric part (A + A^T)/2. A matrix that is not positive definite stops the run. Error: the last two
    dimensions differ.

    ```mlir
    %l = nd.cholesky %a : (tensor<4x4xf64>) -> tensor<4x4xf64>
    ```
  }];
  let arguments = (ins Nd_Float:$a);
  let results = (outs Nd_Float:$l);
  let assemblyFormat = "$a attr-dict `:` functional-type(operands, results)";
}

def Nd_QrOp : Nd_LibraryOp<"qr", ["canFail"]> {
  let summary = "A = Q R, Q with orthonormal columns, R upper triangular";
  let description = [{
    A has at least as many rows as columns; Q has the shape of A. The diagonal of R is not negative, which makes the
    decomposition unique where A has full rank; only there it has a derivative. Error: more columns than rows.

    ```mlir
    %q, %r = nd.qr %a : (tensor<4x2xf64>) -> (tensor<4x2xf64>, tensor<2x2xf64>)
    ```
  }];
  let arguments = (ins Nd_Float:$a);
  let results = (outs Nd_Float:$q, Nd_Float:$r);
  let assemblyFormat = "$a attr-dict `:` functional-type(operands, results)";
}

def Nd_EighOp : Nd_LibraryOp<"eigh"> {
  let summary = "eigenvalues and eigenvectors of a symmetric matrix: A V = V diag(w)";
  let description = [{
    Of the symmetric part (A + A^T)/2. `w` rises; column j of V belongs to `w[j]`. In each column the first element
    that is at least half as large as the largest is positive. Derivatives: a turn within the space of equal
    eigenvalues counts as zero. Error: the last two dimensions differ.

    ```mlir
    %w, %v = nd.eigh %a : (tensor<4x4xf64>) -> (tensor<4xf64>, tensor<4x4xf64>)
    ```
  }];
  let arguments = (ins Nd_Float:$a);
  let results = (outs Nd_Float:$w, Nd_Float:$v);
  let assemblyFormat = "$a attr-dict `:` functional-type(operands, results)";
}

def Nd_SvdOp : Nd_LibraryOp<"svd"> {
  let summary = "A = U diag(s) V^T with orthonormal columns, s falling";
  let description = [{
    A is [m, n], U [m, k], s [k], V [n, k] with k the lesser of m and n. In each column of U the first element that is
    at least half as large as the largest is positive. Derivatives: a turn within the space of equal singular values
    counts as zero, and so does what a singular value of 0 would divide. Error: fewer than two dimensions.

    ```mlir
    %u, %s, %v = nd.svd %a : (tensor<4x2xf64>) -> (tensor<4x2xf64>, tensor<2xf64>, tensor<2x2xf64>)
    ```
  }];
  let arguments = (ins Nd_Float:$a);
  let results = (outs Nd_Float:$u, Nd_Float:$s, Nd_Float:$v);
  let assemblyFormat = "$a attr-dict `:` functional-type(operands, results)";
}

def Nd_SolveOp : Nd_LibraryOp<"solve"> {
  let summary = "X with A X = B";
  let description = [{
    By elimination with row exchanges. A is [n, n], B and X are [n, k]; a pivot of exactly 0 stops the run. Error:
    shapes or batches do not fit.

    ```mlir
    %x = nd.solve %a, %b : (tensor<4x4xf64>, tensor<4x2xf64>) -> tensor<4x2xf64>
    ```
  }];
  let arguments = (ins Nd_Float:$a, Nd_Float:$b);
  let results = (outs Nd_Float:$x);
  let assemblyFormat = "$a `,` $b attr-dict `:` functional-type(operands, results)";
}

def Nd_TriangularSolveOp : Nd_LibraryOp<"triangular_solve"> {
  let summary = "X with T X = B, T the lower (or upper) triangle of A";
  let description = [{
    The other triangle of A is not read. A is [n, n], B and X are [n, k]; a 0 on the diagonal stops the run. Error:
    shapes or batches do not fit.

    ```mlir
    %x = nd.triangular_solve %a, %b : (tensor<4x4xf64>, tensor<4x2xf64>) -> tensor<4x2xf64>
    %y = nd.triangular_solve upper %a, %b : (tensor<4x4xf64>, tensor<4x2xf64>) -> tensor<4x2xf64>
    ```
  }];
  let arguments = (ins Nd_Float:$a, Nd_Float:$b, UnitAttr:$upper);
  let results = (outs Nd_Float:$x);
  let assemblyFormat = "(`upper` $upper^)? $a `,` $b attr-dict `:` functional-type(operands, results)";
}

def Nd_LogDetOp : Nd_LibraryOp<"log_det", ["canFail"]> {
  let summary = "sign and logarithm of the absolute value of a determinant";
  let description = [{
    A singular matrix gives 0 and -inf; its derivative, which needs the inverse, stops the run. Of no rows: 1 and 0.
    Error: the last two dimensions differ.

    ```mlir
    %s, %l = nd.log_det %a : (tensor<4x4xf64>) -> (tensor<f64>, tensor<f64>)
    ```
  }];
  let arguments = (ins Nd_Float:$a);
  let results = (outs Nd_Float:$sign, Nd_Float:$log);
  let assemblyFormat = "$a attr-dict `:` functional-type(operands, results)";
}

def Nd_FftOp : Nd_LibraryOp<"fft", ["canFail"]> {
  let summary = "discrete Fourier transform of complex numbers";
  let description = [{
    The last dimension holds real and imaginary part, the one before the n numbers: y_k = sum over j of
    x_j exp(-2 pi i j k / n), with `inverse` of x_j exp(2 pi i j k / n). Neither divides by n. Time: n times the sum of
    the prime factors of n. Error: the last dimension is not of size 2.

    ```mlir
    %y = nd.fft %x : (tensor<8x2xf64>) -> tensor<8x2xf64>
    %z = nd.fft inverse %y : (tensor<8x2xf64>) -> tensor<8x2xf64>
    ```
  }];
  let arguments = (ins Nd_Float:$input, UnitAttr:$inverse);
  let results = (outs Nd_Float:$result);
  let assemblyFormat = "(`inverse` $inverse^)? $input attr-dict `:` functional-type(operands, results)";
}

#endif // DYN_ND_LIBRARY_OPS_TD
