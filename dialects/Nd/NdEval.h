//===- NdEval.h - the plain evaluator of nd -------------------------------===//
//
// One function per op and no tricks: the oracle of every test, the constant
// folder, and the base of an interpreter. Sums of f32 accumulate in f64 and
// round once; every result of f32 is rounded to f32.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_DIALECTS_ND_NDEVAL_H
#define DYN_DIALECTS_ND_NDEVAL_H

#include "dialects/Nd/NdArray.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>

namespace dyn::nd {

using ValueMap = llvm::DenseMap<mlir::Value, NdArray>;
using NdArrays = llvm::SmallVector<NdArray, 4>;

/// What a draw is asked for; numbers as in dyn_draw (runtime/Functions.def).
struct DrawRequest {
  int32_t distribution, stream;
  int64_t site;
  const int64_t *counter;
  int64_t base;
  Element element;
  int64_t count;
};

/// What an evaluator calls besides the functions of nd; all optional.
struct EvalHooks {
  /// Evaluates an op that is not of nd: gives its results, or fails after reporting.
  std::function<llvm::FailureOr<NdArrays>(mlir::Operation *, llvm::ArrayRef<NdArray>)> foreign;
  /// Sees every op's results, e.g. to find the first one that is not finite. Failing ends the evaluation.
  std::function<llvm::LogicalResult(mlir::Operation *, llvm::ArrayRef<NdArray>)> observe;
  /// Fills an array with draws (doubles, or whole numbers in `bits`).
  std::function<NdArray(const DrawRequest &, llvm::ArrayRef<int64_t> shape)> draw;
  /// Told why an op could not be evaluated. Without it: an error is emitted at the op.
  std::function<void(mlir::Operation *, const llvm::Twine &)> error;
};

class Evaluator {
public:
  explicit Evaluator(EvalHooks hooks = {}) : hooks(std::move(hooks)) {}

  /// The results of one op; its regions, if any, read outer values from `outer`.
  llvm::FailureOr<NdArrays> evalOp(mlir::Operation *op, llvm::ArrayRef<NdArray> operands, ValueMap &outer);
  /// Evaluates a block whose arguments and outer values are in `values`; gives the terminator's operands.
  llvm::FailureOr<NdArrays> evalBlock(mlir::Block &block, ValueMap &values);
  /// As above with arguments.
  llvm::FailureOr<NdArrays> evalBlock(mlir::Block &block, llvm::ArrayRef<NdArray> arguments, ValueMap &values);
  /// Evaluates a function-like region of one block.
  llvm::FailureOr<NdArrays> evalFunction(mlir::Region &body, llvm::ArrayRef<NdArray> arguments);

  /// Reports and fails.
  llvm::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &reason);
  const EvalHooks &getHooks() const { return hooks; }
  /// The value of a constant op, converted once.
  llvm::FailureOr<NdArray> constant(mlir::Operation *op, mlir::ElementsAttr value);

private:
  EvalHooks hooks;
  llvm::DenseMap<mlir::Attribute, NdArray> constants;
};

/// One op without regions or draws; quiet on failure.
llvm::FailureOr<NdArrays> evalOp(mlir::Operation *op, llvm::ArrayRef<NdArray> operands);

/// The evaluator's functions, by op.
using EvalFn = std::function<llvm::LogicalResult(Evaluator &, mlir::Operation *, llvm::ArrayRef<NdArray>, ValueMap &,
                                                 NdArrays &)>;
using EvalTable = llvm::DenseMap<mlir::TypeID, EvalFn>;
/// Whether the evaluator knows the op.
bool canEvaluate(mlir::OperationName name);

} // namespace dyn::nd

#endif // DYN_DIALECTS_ND_NDEVAL_H
