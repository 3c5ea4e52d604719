#include "dialects/Nd/NdSweep.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

bool nd::hasDerivative(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<FloatType>(tensor.getElementType());
}

Value nd::zerosOf(OpBuilder &builder, Value value) {
  auto type = typeOf(value);
  return ConstantOp::create(builder, value.getLoc(),
                            DenseElementsAttr::get(type, builder.getZeroAttr(type.getElementType())));
}

namespace {
/// The ops between `wrt` and `outputs`, inputs before users, and the values that vary with `wrt`. What `fixed` values
/// are made of is not looked at.
class Graph {
public:
  Graph(ArrayRef<Value> outputs, ArrayRef<Value> wrt, ArrayRef<Value> fixed = {}) : fixed(fixed.begin(), fixed.end()) {
    for (Value value : wrt)
      if (hasDerivative(value.getType()))
        varied.insert(value);
    for (Value output : outputs)
      visit(output);
  }

  bool varies(Value value) const { return varied.contains(value); }
  ArrayRef<Operation *> order() const { return ops; }
  ArrayRef<Value> inputsOf(Operation *op) const { return inputs.find(op)->second; }

private:
  /// Depth first over defining ops, without recursion: graphs are long chains.
  void visit(Value output) {
    struct Frame {
      Operation *op;
      size_t next = 0;
    };
    SmallVector<Frame> stack;
    auto enter = [&](Value value) {
      Operation *op = value.getDefiningOp();
      if (op && !varied.contains(value) && !fixed.contains(value) && inputs.try_emplace(op).second) {
        inputs[op] = getInputs(op);
        stack.push_back({op});
      }
    };
    enter(output);
    while (!stack.empty()) {
      Frame &frame = stack.back();
      ArrayRef<Value> from = inputsOf(frame.op);
      if (frame.next < from.size()) {
        enter(from[frame.next++]);
        continue;
      }
      leave(frame.op, from);
      stack.pop_back();
    }
  }

  void leave(Operation *op, ArrayRef<Value> from) {
    if (isa<StopGradientOp>(op) || llvm::none_of(from, [&](Value value) { return varies(value); }))
      return;
    bool any = false;
    for (Value result : op->getResults())
      if (hasDerivative(result.getType()))
        any |= varied.insert(result).second;
    if (any)
      ops.push_back(op);
  }

  llvm::DenseSet<Value> varied, fixed;
  llvm::DenseMap<Operation *, SmallVector<Value>> inputs;
  SmallVector<Operation *> ops;
};

/// Ops that choose among elements: what they leave out gets cotangent 0 whatever it is.
bool chooses(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKind() == ReduceKind::max || reduce.getKind() == ReduceKind::min;
  if (auto reduce = dyn_cast<SegmentReduceOp>(op))
    return reduce.getKind() == ReduceKind::max || reduce.getKind() == ReduceKind::min;
  return isa<SelectOp, MaxOp, MinOp, CumulateOp, GatherOp, SliceOp, ScatterOp>(op);
}

/// The op's rules, or null after saying why no derivative passes.
Differentiable rulesOf(Operation *op, RefuseFn refuse) {
  auto rules = dyn_cast<Differentiable>(op);
  StringRef reason = rules ? rules.notDifferentiableReason() : "it has no derivative";
  if (reason.empty())
    return rules;
  refuse(op, reason);
  return {};
}
} // namespace

SmallVector<bool> nd::dependsOn(ArrayRef<Value> outputs, ArrayRef<Value> wrt) {
  Graph graph(outputs, wrt);
  return llvm::map_to_vector(outputs, [&](Value output) { return graph.varies(output); });
}

LogicalResult nd::reverseSweep(OpBuilder &builder, ArrayRef<Value> outputs, ArrayRef<Value> cotangents,
                               ArrayRef<Value> wrt, bool masked, RefuseFn refuse,
                               SmallVectorImpl<Value> &gradients, ArrayRef<Value> fixed) {
  Graph graph(outputs, wrt, fixed);
  llvm::DenseMap<Value, Value> cotangentOf;
  llvm::DenseSet<Value> maskedValues;
  auto accumulate = [&](Value value, Value cotangent) {
    Value &sum = cotangentOf[value];
    sum = sum ? Value(AddOp::create(builder, value.getLoc(), sum, cotangent)) : cotangent;
  };
  for (auto [output, cotangent] : llvm::zip(outputs, cotangents))
    if (cotangent && graph.varies(output)) {
      accumulate(output, cotangent);
      if (masked)
        maskedValues.insert(output);
    }
  for (Operation *op : llvm::reverse(graph.order())) {
    SmallVector<Value> given;
    bool hidden = false;
    for (Value result : op->getResults()) {
      given.push_back(cotangentOf.lookup(result));
      hidden |= maskedValues.contains(result);
    }
    if (llvm::none_of(given, [](Value value) { return bool(value); }))
      continue;
    Differentiable rules = rulesOf(op, refuse);
    if (!rules)
      return failure();
    ArrayRef<Value> inputs = graph.inputsOf(op);
    SmallVector<bool> needed = llvm::map_to_vector(inputs, [&](Value input) { return graph.varies(input); });
    SmallVector<Value> results;
    if (failed(rules.buildVjp(builder, given, {needed, hidden, refuse}, results)))
      return failure();
    for (auto [input, cotangent, wanted] : llvm::zip(inputs, results, needed)) {
      if (!cotangent || !wanted)
        continue;
      accumulate(input, cotangent);
      if (hidden || chooses(op))
        maskedValues.insert(input);
    }
  }
  for (Value value : wrt)
    gradients.push_back(cotangentOf.lookup(value));
  return success();
}

LogicalResult nd::forwardSweep(OpBuilder &builder, ArrayRef<Value> outputs, ArrayRef<Value> wrt,
                               ArrayRef<Value> tangents, RefuseFn refuse, SmallVectorImpl<Value> &outputTangents) {
  SmallVector<Value> moving, fixed;
  llvm::DenseMap<Value, Value> tangentOf;
  for (auto [value, tangent] : llvm::zip(wrt, tangents)) {
    (tangent ? moving : fixed).push_back(value);
    if (tangent)
      tangentOf[value] = tangent;
  }
  Graph graph(outputs, moving, fixed);
  for (Operation *op : graph.order()) {
    SmallVector<Value> given =
        llvm::map_to_vector(graph.inputsOf(op), [&](Value input) { return tangentOf.lookup(input); });
    if (llvm::none_of(given, [](Value value) { return bool(value); }))
      continue;
    Differentiable rules = rulesOf(op, refuse);
    if (!rules)
      return failure();
    SmallVector<Value> results;
    if (failed(rules.buildJvp(builder, given, results))) {
      refuse(op, "it has no forward derivative");
      return failure();
    }
    for (auto [result, tangent] : llvm::zip(op->getResults(), results))
      if (tangent)
        tangentOf[result] = tangent;
  }
  for (Value output : outputs)
    outputTangents.push_back(tangentOf.lookup(output));
  return success();
}
