//===- NdWindow.td - sliding windows --------------------------------------===//
//
// The two linear ops below convolution and pooling, each the transpose of the
// other. They have a generated header of their own, NdWindow.h.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_ND_WINDOW_TD
#define DYN_ND_WINDOW_TD

include "dialects/Nd/NdElementwise.td"

def Nd_WindowOp : Nd_Op<"window", [InferTypeOpAdaptor]> {
  let summary = "every place of a window that slides over the last dimensions";
  let description = [{
    The window has one entry of each list for each of the last dimensions, d of them. Result shape: the leading
    dimensions, the `sizes` of the window, then the numbers of its places

        places = floor((extent + low + high - dilation (size - 1) - 1)/stride) + 1.

    Result element `[…, k…, o…]` is operand element `[…, stride o + dilation k - low…]`, and 0 outside. The order is
    that of a matrix product: `[c, kh, kw, oh, ow]` read as `[c kh kw, oh ow]` times filters `[o, c kh kw]` is a
    convolution (a cross-correlation: nothing is mirrored), a reduction of the window's dimensions is a pooling.
    Errors: lists of different lengths or longer than the rank; a size, stride or dilation below 1; negative padding;
    a window larger than the padded operand.

    ```mlir
    %w = nd.window %x sizes [3, 3] strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1]
       : tensor<2x8x8xf32> -> tensor<2x3x3x8x8xf32>
    ```
  }];
  let arguments = (ins Nd_Number:$input, DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high);
  let results = (outs Nd_Number:$result);
  let assemblyFormat = [{
    $input `sizes` $sizes `strides` $strides `dilations` $dilations `low` $low `high` $high attr-dict `:`
    type($input) `->` type($result)
  }];
}

def Nd_UnwindowOp : Nd_Op<"unwindow", [InferTypeOpAdaptor]> {
  let summary = "adds every place of a window back to where it was read";
  let description = [{
    The transpose of `nd.window`: the last dimensions of the result have extents `shape`, and element `[…, i…]` is the
    sum of all operand elements `[…, k…, o…]` with `i = stride o + dilation k - low`, in the order of k. What the
    window read outside is dropped. Errors: those of `nd.window`; an operand that is no window over `shape`.

    ```mlir
    %x = nd.unwindow %w shape [8, 8] sizes [3, 3] strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1]
       : tensor<2x3x3x8x8xf32> -> tensor<2x8x8xf32>
    ```
  }];
  let arguments = (ins Nd_Number:$input, DenseI64ArrayAttr:$shape, DenseI64ArrayAttr:$sizes,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high);
  let results = (outs Nd_Number:$result);
  let assemblyFormat = [{
    $input `shape` $shape `sizes` $sizes `strides` $strides `dilations` $dilations `low` $low `high` $high attr-dict `:`
    type($input) `->` type($result)
  }];
}

#endif // DYN_ND_WINDOW_TD
