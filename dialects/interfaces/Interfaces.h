//===- Interfaces.h - Differentiable, Batchable, Elementwise, HiddenAxes --===//
#ifndef DYN_DIALECTS_INTERFACES_INTERFACES_H
#define DYN_DIALECTS_INTERFACES_INTERFACES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace dyn {

/// Result i depends on element i of each operand only; all operands and the result have one shape.
template <typename ConcreteType>
class Elementwise : public mlir::OpTrait::TraitBase<ConcreteType, Elementwise> {};

/// Told which op stands in the way, and why.
using RefuseFn = llvm::function_ref<void(mlir::Operation *, const llvm::Twine &)>;

/// What a reverse rule may ask and tell.
struct VjpRequest {
  llvm::ArrayRef<bool> needed; ///< one an input: whether its cotangent is wanted
  /// Some element of the results may be left out by a later choice (select, max, …): its cotangent is then 0, and a
  /// partial derivative that is not finite must not turn it into nan.
  bool masked;
  RefuseFn refuse;
};

/// How a computation is batched.
struct BatchRequest {
  int64_t size; ///< of the new leading dimension
  /// Whether the results of an op without batched inputs must be batched all the same (a draw made once a row);
  /// null: never.
  llvm::function_ref<bool(mlir::Operation *)> varies = {};
  /// The type of such a result before the leading dimension is added; null: unchanged.
  llvm::function_ref<mlir::RankedTensorType(mlir::RankedTensorType)> strip = {};
  /// Builds an op of another dialect: gives each result and whether it has the leading dimension. With it, `varies`
  /// says exactly which ops have results that do. Null: such ops are refused.
  llvm::function_ref<llvm::LogicalResult(mlir::OpBuilder &, mlir::Operation *, llvm::ArrayRef<mlir::Value> inputs,
                                         llvm::ArrayRef<bool> batched,
                                         llvm::SmallVectorImpl<std::pair<mlir::Value, bool>> &results)>
      foreign = {};
  /// Whether this value has the leading dimension; null: what a batched input reaches does.
  llvm::function_ref<bool(mlir::Value)> variesValue = {};
};

/// The operands of `op`, then the values from outside that its regions use, in order of first use.
llvm::SmallVector<mlir::Value> getInputs(mlir::Operation *op);

/// The encoding of a value computed from values of encodings `a` and `b`; null is "none" and merges to the other.
/// Fails when they cannot meet.
llvm::FailureOr<mlir::Attribute> mergeEncodings(mlir::Attribute a, mlir::Attribute b);
/// As above over the types of all `types` that are ranked tensors.
llvm::FailureOr<mlir::Attribute> mergeEncodings(mlir::TypeRange types);

} // namespace dyn

#include "dialects/interfaces/AttrInterfaces.h.inc"
#include "dialects/interfaces/Interfaces.h.inc"

#endif // DYN_DIALECTS_INTERFACES_INTERFACES_H
