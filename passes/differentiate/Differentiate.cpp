// Derivatives of a function: finds what varies, walks it through the rules of Differentiable, and makes zeros of what
// does not. After it the function is ordinary nd: dead code of the first computation is left to canonicalize.
#include "passes/differentiate/Differentiate.h"

#include "dialects/Nd/NdSweep.h"
#include "passes/differentiate/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#define DEBUG_TYPE "nd-differentiate"

namespace dyn {
#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "passes/differentiate/Passes.h.inc"
} // namespace dyn

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

/// Nulls become zeros of the type of what they belong to.
static void fillZeros(OpBuilder &builder, MutableArrayRef<Value> derivatives, ArrayRef<Value> of,
                      SmallVectorImpl<bool> *dependent) {
  for (auto [derivative, value] : llvm::zip(derivatives, of)) {
    if (dependent)
      dependent->push_back(bool(derivative));
    if (!derivative)
      derivative = zerosOf(builder, value);
  }
}

FailureOr<SmallVector<Value>> dyn::buildVectorJacobian(OpBuilder &builder, ArrayRef<Value> outputs,
                                                       ArrayRef<Value> cotangents, ArrayRef<Value> wrt,
                                                       RefuseFn refuse, SmallVectorImpl<bool> *dependent) {
  SmallVector<Value> gradients;
  if (failed(reverseSweep(builder, outputs, cotangents, wrt, /*masked=*/false, refuse, gradients)))
    return failure();
  fillZeros(builder, gradients, wrt, dependent);
  return gradients;
}

FailureOr<SmallVector<Value>> dyn::buildGradient(OpBuilder &builder, Value output, Value cotangent,
                                                 ArrayRef<Value> wrt, RefuseFn refuse,
                                                 SmallVectorImpl<bool> *dependent) {
  if (!cotangent)
    cotangent = splatLike(builder, output, 1);
  return buildVectorJacobian(builder, output, cotangent, wrt, refuse, dependent);
}

FailureOr<SmallVector<Value>> dyn::buildJacobianVector(OpBuilder &builder, ArrayRef<Value> outputs,
                                                       ArrayRef<Value> wrt, ArrayRef<Value> tangents,
                                                       RefuseFn refuse, SmallVectorImpl<bool> *dependent) {
  SmallVector<Value> moved;
  if (failed(forwardSweep(builder, outputs, wrt, tangents, refuse, moved)))
    return failure();
  fillZeros(builder, moved, outputs, dependent);
  return moved;
}

namespace {
struct Differentiate : public dyn::impl::DifferentiatePassBase<Differentiate> {
  using DifferentiatePassBase::DifferentiatePassBase;

  void runOnOperation() override {
    auto target = getOperation().lookupSymbol<func::FuncOp>(function);
    if (!target || !target.getBody().hasOneBlock()) {
      getOperation().emitError("no function `") << function << "` of one block to differentiate";
      return signalPassFailure();
    }
    for (int64_t number : wrt)
      if (number < 0 || number >= int64_t(target.getNumArguments()) ||
          !hasDerivative(target.getArgument(number).getType())) {
        target.emitError("argument ") << number << " is not a float to differentiate by";
        return signalPassFailure();
      }
    if (failed(forward ? addTangents(target) : addGradients(target)))
      signalPassFailure();
  }

  SmallVector<Value> arguments(func::FuncOp target) {
    return llvm::map_to_vector(wrt, [&](int64_t number) -> Value { return target.getArgument(number); });
  }

  static void refuse(Operation *op, const Twine &reason) {
    op->emitError("no derivative passes through `") << op->getName() << "`: " << reason;
  }

  LogicalResult checkDependent(func::FuncOp target, ArrayRef<bool> dependent, StringRef what) {
    for (auto [i, depends] : llvm::enumerate(dependent))
      if (!depends)
        return target.emitError("the derivative of ") << what << ' ' << i << " is zero everywhere";
    return success();
  }

  LogicalResult addGradients(func::FuncOp target) {
    Operation *end = target.getBody().front().getTerminator();
    Value output = end->getNumOperands() ? end->getOperand(0) : Value();
    if (!output || !hasDerivative(output.getType()) || !shapeOf(output).empty())
      return target.emitError("the first result is not a scalar float");
    OpBuilder builder(end);
    SmallVector<bool> dependent;
    auto gradients = buildGradient(builder, output, {}, arguments(target), refuse, &dependent);
    if (failed(gradients) || failed(checkDependent(target, dependent, "the result by argument")))
      return failure();
    return appendResults(target, *gradients);
  }

  LogicalResult addTangents(func::FuncOp target) {
    Operation *end = target.getBody().front().getTerminator();
    SmallVector<Value> outputs = llvm::filter_to_vector(
        end->getOperands(), [](Value value) { return hasDerivative(value.getType()); });
    SmallVector<Value> by = arguments(target), tangents;
    for (Value value : by) {
      if (failed(target.insertArgument(target.getNumArguments(), value.getType(), {}, value.getLoc())))
        return failure();
      tangents.push_back(target.getArguments().back());
    }
    OpBuilder builder(end);
    SmallVector<bool> dependent;
    auto moved = buildJacobianVector(builder, outputs, by, tangents, refuse, &dependent);
    if (failed(moved) || failed(checkDependent(target, dependent, "float result")))
      return failure();
    return appendResults(target, *moved);
  }

  LogicalResult appendResults(func::FuncOp target, ArrayRef<Value> values) {
    Operation *end = target.getBody().front().getTerminator();
    end->insertOperands(end->getNumOperands(), values);
    target.setFunctionType(
        FunctionType::get(&getContext(), target.getArgumentTypes(), end->getOperandTypes()));
    return success();
  }
};
} // namespace
