#include "dialects/Nd/NdEval.h"

#include "dialects/Nd/NdEvalInternals.h"

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

static const EvalTable &table() {
  static const EvalTable *built = [] {
    auto *table = new EvalTable;
    addElementwise(*table);
    addStructured(*table);
    addWindows(*table);
    addReductions(*table);
    addRegions(*table);
    addLibrary(*table);
    return table;
  }();
  return *built;
}

bool nd::canEvaluate(OperationName name) { return table().contains(name.getTypeID()); }

LogicalResult Evaluator::refuse(Operation *op, const Twine &reason) {
  if (hooks.error)
    hooks.error(op, reason);
  else
    op->emitError(reason);
  return failure();
}

FailureOr<NdArray> Evaluator::constant(Operation *op, ElementsAttr value) {
  auto found = constants.find(value);
  if (found != constants.end())
    return found->second;
  FailureOr<NdArray> array = NdArray::fromAttribute(value);
  if (failed(array))
    return refuse(op, "constant is not dense");
  constants[value] = *array;
  return array;
}

FailureOr<NdArrays> Evaluator::evalOp(Operation *op, ArrayRef<NdArray> operands, ValueMap &outer) {
  auto found = table().find(op->getName().getTypeID());
  NdArrays results;
  if (found != table().end()) {
    if (failed(found->second(*this, op, operands, outer, results)))
      return failure();
  } else if (hooks.foreign) {
    FailureOr<NdArrays> given = hooks.foreign(op, operands);
    if (failed(given))
      return failure();
    results = std::move(*given);
  } else {
    return refuse(op, "op `" + op->getName().getStringRef() + "` has no plain evaluation");
  }
  if (hooks.observe && failed(hooks.observe(op, results)))
    return failure();
  return results;
}

FailureOr<NdArrays> Evaluator::evalBlock(Block &block, ValueMap &values) {
  for (Operation &op : block) {
    NdArrays operands;
    for (Value operand : op.getOperands()) {
      auto found = values.find(operand);
      if (found == values.end())
        return refuse(&op, "operand has no value");
      operands.push_back(found->second);
    }
    if (op.hasTrait<OpTrait::IsTerminator>())
      return operands;
    FailureOr<NdArrays> results = evalOp(&op, operands, values);
    if (failed(results))
      return failure();
    for (auto [result, array] : llvm::zip(op.getResults(), *results))
      values[result] = array;
  }
  return NdArrays{};
}

FailureOr<NdArrays> Evaluator::evalBlock(Block &block, ArrayRef<NdArray> arguments, ValueMap &values) {
  for (auto [argument, array] : llvm::zip(block.getArguments(), arguments))
    values[argument] = array;
  return evalBlock(block, values);
}

FailureOr<NdArrays> Evaluator::evalFunction(Region &body, ArrayRef<NdArray> arguments) {
  ValueMap values;
  return evalBlock(body.front(), arguments, values);
}

FailureOr<NdArrays> nd::evalOp(Operation *op, ArrayRef<NdArray> operands) {
  EvalHooks hooks;
  hooks.error = [](Operation *, const Twine &) {};
  ValueMap outer;
  return Evaluator(hooks).evalOp(op, operands, outer);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Row i along the first dimension.
static NdArray rowAt(const NdArray &x, int64_t i) {
  auto shape = x.shape().drop_front();
  return readStrided(x, shape, stridesOf(shape), i * sizeOf(shape));
}

/// The values of `rows`, in order, under one more dimension.
static NdArray stack(ArrayRef<NdArray> rows, RankedTensorType type) {
  Element element = elementOf(type);
  if (isFloat(element)) {
    std::vector<double> values;
    for (const NdArray &row : rows)
      values.insert(values.end(), row.floats().begin(), row.floats().end());
    return NdArray(type.getShape(), element, std::move(values));
  }
  std::vector<int64_t> values;
  for (const NdArray &row : rows)
    values.insert(values.end(), row.ints().begin(), row.ints().end());
  return NdArray(type.getShape(), element, std::move(values));
}

static LogicalResult evalScan(Evaluator &evaluator, ScanOp op, ArrayRef<NdArray> operands, ValueMap &values,
                              NdArrays &results) {
  size_t carries = op.getInits().size(), stacks = op.getNumResults() - carries;
  NdArrays carried(operands.take_front(carries));
  std::vector<std::vector<NdArray>> rows(stacks, std::vector<NdArray>(op.getTrip()));
  for (int64_t pass = 0, trip = op.getTrip(); pass < trip; ++pass) {
    int64_t i = op.getReverse() ? trip - 1 - pass : pass;
    NdArrays arguments{NdArray::scalar(i)};
    arguments.append(carried.begin(), carried.end());
    for (const NdArray &x : operands.drop_front(carries))
      arguments.push_back(rowAt(x, i));
    FailureOr<NdArrays> yields = evaluator.evalBlock(op.getBody().front(), arguments, values);
    if (failed(yields))
      return failure();
    carried.assign(yields->begin(), yields->begin() + carries);
    for (size_t s = 0; s < stacks; ++s)
      rows[s][i] = (*yields)[carries + s];
  }
  results = carried;
  for (size_t s = 0; s < stacks; ++s)
    results.push_back(stack(rows[s], cast<RankedTensorType>(op.getResult(carries + s).getType())));
  return success();
}

static LogicalResult evalWhile(Evaluator &evaluator, WhileOp op, ArrayRef<NdArray> operands, ValueMap &values,
                               NdArrays &results) {
  NdArrays carried(operands);
  for (int64_t passes = 0;; ++passes) {
    FailureOr<NdArrays> go = evaluator.evalBlock(op.getCondition().front(), carried, values);
    if (failed(go))
      return failure();
    if (!go->front().ints()[0]) {
      results = carried;
      results.push_back(NdArray::scalar(passes));
      return success();
    }
    if (passes == int64_t(op.getLimit()))
      return evaluator.refuse(op, "loop reached its limit of " + Twine(passes) + " passes");
    FailureOr<NdArrays> next = evaluator.evalBlock(op.getBody().front(), carried, values);
    if (failed(next))
      return failure();
    carried = *next;
  }
}

void nd::addRegions(EvalTable &table) {
  auto wrap = [](auto fn, auto tag) -> EvalFn {
    using OpTy = decltype(tag);
    return [fn](Evaluator &evaluator, Operation *op, ArrayRef<NdArray> operands, ValueMap &values, NdArrays &results) {
      return fn(evaluator, cast<OpTy>(op), operands, values, results);
    };
  };
  table[TypeID::get<ScanOp>()] = wrap(evalScan, ScanOp());
  table[TypeID::get<WhileOp>()] = wrap(evalWhile, WhileOp());
  table[TypeID::get<CondOp>()] = [](Evaluator &evaluator, Operation *op, ArrayRef<NdArray> operands, ValueMap &values,
                                    NdArrays &results) -> LogicalResult {
    Region &side = operands[0].ints()[0] ? cast<CondOp>(op).getThenRegion() : cast<CondOp>(op).getElseRegion();
    FailureOr<NdArrays> yields = evaluator.evalBlock(side.front(), values);
    if (failed(yields))
      return failure();
    results = *yields;
    return success();
  };
}
