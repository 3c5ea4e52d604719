#include "Shrink.h"

#include "dialects/Nd/NdOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

namespace dyn::fuzz {
namespace {

func::FuncOp functionOf(ModuleOp module) { return module.lookupSymbol<func::FuncOp>("f"); }

void setResults(func::FuncOp function, ValueRange results) {
  Operation *end = function.getBody().front().getTerminator();
  end->setOperands(results);
  function.setFunctionType(
      FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(), end->getOperandTypes()));
}

void eraseDead(func::FuncOp function) {
  bool again = true;
  while (again) {
    again = false;
    SmallVector<Operation *> ops;
    function.walk<WalkOrder::PostOrder>([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op)) {
        op->erase();
        again = true;
        break;
      }
  }
}

/// Ops that may be left out: all but the ends of blocks and constants, later ones first.
SmallVector<Operation *> candidates(func::FuncOp function) {
  SmallVector<Operation *> ops;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != function && !op->hasTrait<OpTrait::IsTerminator>() && !isa<ConstantOp>(op))
      ops.push_back(op);
  });
  std::reverse(ops.begin(), ops.end());
  return ops;
}

/// Something of the type that needs no op's work: an operand, an argument of the function, or a number.
Value standIn(func::FuncOp function, Operation *op, Value result) {
  for (Value operand : op->getOperands())
    if (operand.getType() == result.getType())
      return operand;
  auto type = typeOf(result);
  if (isa<FloatType>(type.getElementType()) && op->getParentOp() == function)
    return function.getBody().front().addArgument(type, op->getLoc());
  OpBuilder builder(op);
  return splat(builder, op->getLoc(), type, isa<FloatType>(type.getElementType()) ? 0.75 : 0);
}

void leaveOut(func::FuncOp function, Operation *op) {
  for (Value result : op->getResults())
    if (!result.use_empty())
      result.replaceAllUsesWith(standIn(function, op, result));
  op->erase();
  setResults(function, SmallVector<Value>(function.getBody().front().getTerminator()->getOperands()));
}

class Shrinker {
public:
  Shrinker(ModuleOp module, llvm::function_ref<bool(ModuleOp)> fails) : best(module.clone()), fails(fails) {}

  OwningOpRef<ModuleOp> run() {
    while (fewerResults() || fewerOps() || fewerArguments())
      ;
    return std::move(best);
  }

private:
  /// Keeps an edit of the best module if it still fails, without what nothing reads then or, where the fault is in
  /// just that, with it.
  bool accept(llvm::function_ref<void(func::FuncOp)> edit) {
    for (bool keepsDead : {false, true}) {
      OwningOpRef<ModuleOp> copy = best->clone();
      edit(functionOf(*copy));
      if (!keepsDead)
        eraseDead(functionOf(*copy));
      if (!fails(*copy))
        continue;
      best = std::move(copy);
      return true;
    }
    return false;
  }

  bool fewerResults() {
    unsigned count = functionOf(*best).getNumResults();
    for (unsigned kept = 0; count > 1 && kept < count; ++kept)
      if (accept([&](func::FuncOp function) {
            setResults(function, function.getBody().front().getTerminator()->getOperand(kept));
          }))
        return true;
    return false;
  }

  bool fewerOps() {
    bool any = false;
    for (size_t at = 0; at < candidates(functionOf(*best)).size();)
      if (accept([&](func::FuncOp function) { leaveOut(function, candidates(function)[at]); }))
        any = true;
      else
        ++at;
    return any;
  }

  bool fewerArguments() {
    bool any = false;
    for (unsigned at = functionOf(*best).getNumArguments(); at-- > 0;) {
      if (!functionOf(*best).getArgument(at).use_empty())
        continue;
      any |= accept([&](func::FuncOp function) {
        function.getBody().front().eraseArgument(at);
        setResults(function, SmallVector<Value>(function.getBody().front().getTerminator()->getOperands()));
      });
    }
    return any;
  }

  OwningOpRef<ModuleOp> best;
  llvm::function_ref<bool(ModuleOp)> fails;
};

} // namespace

OwningOpRef<ModuleOp> shrink(ModuleOp module, llvm::function_ref<bool(ModuleOp)> fails) {
  return Shrinker(module, fails).run();
}

} // namespace dyn::fuzz
