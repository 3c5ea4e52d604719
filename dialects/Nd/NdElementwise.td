//===- NdElementwise.td - elementwise ops ---------------------------------===//
//
// All operands of an elementwise op have one shape and element type, which the
// result has too (compare gives i1). The encoding of the result is the merge
// of the operands' encodings.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_ND_ELEMENTWISE_TD
#define DYN_ND_ELEMENTWISE_TD

include "dialects/Nd/NdBase.td"

class Nd_Elementwise<string mnemonic, string text, string detail, list<Trait> traits>
    : Nd_Op<mnemonic, !listconcat([Dyn_Elementwise, InferTypeOpAdaptor], traits)> {
  let summary = text;
  let description = detail # "\n\nElementwise; the operands have one shape and element type.";
}

class Nd_Unary<string mnemonic, Type type, string text, string detail = "", list<Trait> traits = []>
    : Nd_Elementwise<mnemonic, text, detail # "\n\n```mlir\n%y = nd." # mnemonic # " %x : tensor<4xf32>\n```", traits> {
  let arguments = (ins type:$x);
  let results = (outs type:$result);
  let assemblyFormat = "$x attr-dict `:` custom<SameTypes>(type($x), type($result))";
}

class Nd_Binary<string mnemonic, Type type, string text, string detail = "", list<Trait> traits = []>
    : Nd_Elementwise<mnemonic, text,
        detail # "\n\n```mlir\n%z = nd." # mnemonic # " %x, %y : tensor<4xf32>\n```", traits> {
  let arguments = (ins type:$x, type:$y);
  let results = (outs type:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` custom<SameTypes>(type($x), type($y), type($result))";
}

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

def Nd_NegOp : Nd_Unary<"neg", Nd_Number, "-x"> {
  let hasFolder = 1;
}
def Nd_AbsOp : Nd_Unary<"abs", Nd_Number, "|x|", "Slope 0 at 0.">;
def Nd_SignOp : Nd_Unary<"sign", Nd_Number, "-1, 0 or 1 (nan for nan)", "Its derivative is 0 everywhere.">;
def Nd_SqrtOp : Nd_Unary<"sqrt", Nd_Float, "square root",
  "nan below 0. Its derivative is taken as 0 at 0, so that the slope of a norm at 0 is 0.">;
def Nd_RsqrtOp : Nd_Unary<"rsqrt", Nd_Float, "1 / sqrt(x)">;
def Nd_ExpOp : Nd_Unary<"exp", Nd_Float, "e^x">;
def Nd_Expm1Op : Nd_Unary<"expm1", Nd_Float, "e^x - 1, accurate near 0">;
def Nd_LogOp : Nd_Unary<"log", Nd_Float, "natural logarithm", "-inf at 0, nan below.">;
def Nd_Log1pOp : Nd_Unary<"log1p", Nd_Float, "log(1 + x), accurate near 0">;
def Nd_SinOp : Nd_Unary<"sin", Nd_Float, "sine">;
def Nd_CosOp : Nd_Unary<"cos", Nd_Float, "cosine">;
def Nd_TanhOp : Nd_Unary<"tanh", Nd_Float, "hyperbolic tangent">;
def Nd_SigmoidOp : Nd_Unary<"sigmoid", Nd_Float, "1 / (1 + e^-x)", "Does not overflow on either side.">;
def Nd_ErfOp : Nd_Unary<"erf", Nd_Float, "error function">;
def Nd_FloorOp : Nd_Unary<"floor", Nd_Float, "greatest whole number not above x", "Not differentiable: it is flat.">;
def Nd_CeilOp : Nd_Unary<"ceil", Nd_Float, "least whole number not below x", "Not differentiable: it is flat.">;
def Nd_RoundOp : Nd_Unary<"round", Nd_Float, "nearest whole number, ties to even", "Not differentiable: it is flat.">;
def Nd_NotOp : Nd_Unary<"not", Nd_Bool, "logical not"> {
  let hasFolder = 1;
}
def Nd_StopGradientOp : Nd_Unary<"stop_gradient", Nd_Any, "x, with derivative zero by request">;

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

def Nd_AddOp : Nd_Binary<"add", Nd_Number, "x + y", "Whole numbers wrap.", [Commutative]> {
  let hasCanonicalizer = 1;
  let hasFolder = 1;
}
def Nd_SubOp : Nd_Binary<"sub", Nd_Number, "x - y", "Whole numbers wrap."> {
  let hasFolder = 1;
}
def Nd_MulOp : Nd_Binary<"mul", Nd_Number, "x y", "Whole numbers wrap.", [Commutative]> {
  let hasFolder = 1;
}
def Nd_DivOp : Nd_Binary<"div", Nd_Float, "x / y"> {
  let hasFolder = 1;
}
def Nd_PowOp : Nd_Binary<"pow", Nd_Float, "x^y", [{
As C's pow. Derivatives: for x, `y x^(y-1)`, and 0 where y = 0; for y, `x^y log x`, and 0 where x = 0.}]> {
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}
def Nd_MinOp : Nd_Binary<"min", Nd_Number, "the lesser of x and y", "nan if either is. Equal operands share the slope.",
                         [Commutative]> {
  let hasFolder = 1;
}
def Nd_MaxOp : Nd_Binary<"max", Nd_Number, "the greater of x and y", "nan if either is. Equal operands share the slope.",
                         [Commutative]> {
  let hasFolder = 1;
}
def Nd_RemOp : Nd_Binary<"rem", Nd_Number, "x - y floordiv(x, y): remainder with the sign of y",
  "A whole number's remainder by 0 is 0.">;
def Nd_FloordivOp : Nd_Binary<"floordiv", Nd_Number, "quotient rounded down",
  "A whole number divided by 0 gives 0. Not differentiable: it is flat.">;
def Nd_AndOp : Nd_Binary<"and", Nd_Bool, "logical and", "", [Commutative]> {
  let hasFolder = 1;
}
def Nd_OrOp : Nd_Binary<"or", Nd_Bool, "logical or", "", [Commutative]> {
  let hasFolder = 1;
}

def Nd_CompareOp : Nd_Elementwise<"compare", "order relation, giving i1", [{
False for nan but for `ne`.

```mlir
%b = nd.compare lt %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
```}], []> {
  let arguments = (ins Nd_CompareKind:$kind, Nd_Any:$x, Nd_Any:$y);
  let results = (outs Nd_Bool:$result);
  let assemblyFormat = "`` $kind $x `,` $y attr-dict `:` functional-type(operands, results)";
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

def Nd_SelectOp : Nd_Elementwise<"select", "a where c is true, else b", [{
The derivative looks at the chosen side only.

```mlir
%y = nd.select %c, %a, %b : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
```}], []> {
  let arguments = (ins Nd_Bool:$condition, Nd_Any:$a, Nd_Any:$b);
  let results = (outs Nd_Any:$result);
  let assemblyFormat = "$condition `,` $a `,` $b attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Nd_CastOp : Nd_Op<"cast", [Dyn_Elementwise]> {
  let summary = "element type change";
  let description = [{
    To i64: truncates toward 0, saturating, nan gives 0. To i1: not equal to 0. From i1: 0 or 1. To f32: rounds
    to nearest. The shape stays.

    ```mlir
    %y = nd.cast %x : tensor<4xf32> -> tensor<4xf64>
    ```
  }];
  let arguments = (ins Nd_Any:$x);
  let results = (outs Nd_Any:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Value":$x, "::mlir::Type":$elementType)>];
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // DYN_ND_ELEMENTWISE_TD
