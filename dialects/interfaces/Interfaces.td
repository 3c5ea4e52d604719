//===- Interfaces.td - what an op must know to be trained through ---------===//
//
// Differentiable and Batchable are the two transformations over the op set;
// Elementwise marks ops whose result i depends on operand elements i only;
// HiddenAxes is how a tensor's encoding takes part in type inference.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_INTERFACES_TD
#define DYN_INTERFACES_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/Interfaces.td"

def Dyn_Elementwise : NativeOpTrait<"Elementwise"> {
  let cppNamespace = "::dyn";
}

def Differentiable : OpInterface<"Differentiable"> {
  let cppNamespace = "::dyn";
  let description = [{
    How to build an op's derivatives out of ops that have derivatives again.

    The *inputs* of an op are its operands followed by the values that its regions use from outside
    (`dyn::getInputs`), in that order. Integer and boolean inputs have no cotangent. A rule adds ops at the
    builder's insertion point, which the op dominates, and may use the op's operands and results.
  }];
  let methods = [
    InterfaceMethod<[{
        Reverse rule: from one cotangent for each result (null: zero) fills one cotangent for each input
        (null: zero), with the input's type. Only inputs marked in `request.needed` have to be filled.
        Failing means that `request.refuse` was told the op and the reason.
      }],
      "::llvm::LogicalResult", "buildVjp",
      (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<::mlir::Value>":$cotangents,
           "const ::dyn::VjpRequest &":$request,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$inputCotangents)>,
    InterfaceMethod<[{
        Forward rule: from one tangent for each input (null: zero) fills one tangent for each result (null: zero).
        Failing means that the op has no forward rule; nothing was built.
      }],
      "::llvm::LogicalResult", "buildJvp",
      (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<::mlir::Value>":$tangents,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$resultTangents),
      /*methodBody=*/"", /*defaultImplementation=*/"return ::mlir::failure();">,
    InterfaceMethod<[{
        Why no derivative passes through this op; empty for an op that has one.
      }],
      "::llvm::StringRef", "notDifferentiableReason", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return {};">,
  ];
}

def Batchable : OpInterface<"Batchable"> {
  let cppNamespace = "::dyn";
  let description = [{
    How an op takes one leading dimension more. `inputs` are as in Differentiable; those with `batched[i]` carry
    a leading dimension of `request.size`, the others do not. The results carry it. It equals a loop over the leading
    dimension, except for draws: a batched draw is the draw of the larger shape, so that its rows differ.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the batched op at the builder's insertion point; returns one value for each result. On failure an
        error was emitted at the op.
      }],
      "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "buildBatched",
      (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<::mlir::Value>":$inputs,
           "::llvm::ArrayRef<bool>":$batched, "const ::dyn::BatchRequest &":$request)>,
  ];
}

def HiddenAxes : AttrInterface<"HiddenAxes"> {
  let cppNamespace = "::dyn";
  let description = [{
    A tensor encoding that says over which axes besides its visible dimensions a value varies.
  }];
  let methods = [
    InterfaceMethod<[{
        The encoding of a value computed from values of this encoding and of `other` (never null, never equal to
        this one); null when the two cannot meet.
      }],
      "::mlir::Attribute", "mergeWith", (ins "::mlir::Attribute":$other)>,
  ];
}

#endif // DYN_INTERFACES_TD
