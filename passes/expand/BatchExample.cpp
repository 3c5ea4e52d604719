//===- BatchExample.cpp - hidden axes become leading dimensions -----------===//
//
// Each objective and socket says how many examples it sees, `dyn.part_gradients`
// how many parts, `dyn.elements` how many classes and which of them are there.
// For each axis a new body is built beside the old one: ops of nd through
// Batchable, the ops of dyn at which the axis begins, spreads or ends by the
// rules here. Later passes may assume that no value carries a hidden axis but
// how it is cut into leaves.
//
//===----------------------------------------------------------------------===//
#include "passes/expand/Passes.h"

#include "passes/expand/Kinds.h"
#include "passes/expand/Parts.h"
#include "passes/expand/Segments.h"

#include "dialects/Nd/NdBatch.h"

#include <functional>
#include <limits>

#define DEBUG_TYPE "dyn-batch-example"

namespace dyn::expand {
#define GEN_PASS_DEF_BATCHEXAMPLEPASS
#include "passes/expand/Passes.h.inc"
} // namespace dyn::expand

using namespace mlir;
using namespace dyn;
using namespace dyn::ir;

namespace {
/// The elements of one axis in one objective or socket.
struct Rows {
  StringRef axis;
  int64_t feed, size;
  bool masked;
  int64_t parts; ///< rows are of one part of the batch; so many make the whole
};

class BodyBatcher {
public:
  BodyBatcher(Block &block, Rows rows) : block(block), rows(rows), builder(block.getParentOp()->getContext()) {
    request.size = rows.size;
    request.varies = varying;
    request.strip = strip;
    request.foreign = rewriting;
    request.variesValue = varyingValue;
  }

  LogicalResult run() {
    Block fresh;
    builder.setInsertionPointToEnd(&fresh);
    nd::BatchMap map;
    if (rows.parts > 1)
      first = firstRow();
    LogicalResult result = success();
    for (Operation &op : block)
      if (failed(result = nd::batchOp(builder, &op, map, request)))
        break;
    if (failed(result)) {
      fresh.dropAllReferences();
      fresh.clear();
      return failure();
    }
    block.dropAllReferences();
    while (!block.empty())
      block.back().erase();
    block.getOperations().splice(block.end(), fresh.getOperations());
    return success();
  }

private:
  using Result = std::pair<Value, bool>;

  /// Whether a value is one for each element of the axis.
  bool variesValue(Value value) const { return carries(value.getType(), rows.axis); }
  /// Whether an op, or one inside it, gives such a value.
  bool varies(Operation *op) const {
    return op->walk([&](Operation *inner) {
               return llvm::any_of(inner->getResults(), varyingValue) ? WalkResult::interrupt() : WalkResult::advance();
             })
        .wasInterrupted();
  }

  static RankedTensorType strip(RankedTensorType type) {
    return RankedTensorType::get(type.getShape(), type.getElementType());
  }
  /// The type that stands for it in what is differentiated: how a tree is cut stays, so that each leaf is a variable.
  RankedTensorType batchedType(Type type) const {
    auto tensor = cast<RankedTensorType>(type);
    if (!carries(type, rows.axis))
      return tensor;
    return withEncoding(nd::withLeading(strip(tensor), rows.size), rangeOf(tensor.getEncoding()));
  }
  Value recastTo(Type type, Value value) {
    return value.getType() == type ? value : RecastOp::create(builder, value.getLoc(), type, value).getResult();
  }
  Value plain(Value value) { return recastTo(strip(cast<RankedTensorType>(value.getType())), value); }

  /// An op that is not of nd, at the top or inside a loop or a branch.
  LogicalResult rewrite(OpBuilder &at, Operation *op, ArrayRef<Value> inputs, ArrayRef<bool> batched,
                        SmallVectorImpl<Result> &results) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(at.getInsertionBlock(), at.getInsertionPoint());
    auto input = [&] { return nd::batchedOf(builder, {inputs[0], batched[0]}, rows.size); };
    if (auto field = dyn_cast<FieldOp>(op); field && variesValue(field))
      results.push_back({readField(field), true});
    else if (auto row = dyn_cast<RowOp>(op); row && variesValue(row))
      results.push_back({rowNumbers(row), true});
    else if (isa<VaryOp>(op) && variesValue(op->getResult(0)))
      results.push_back({input(), true});
    else if (auto index = dyn_cast<IndexOp>(op); index && index.getAxis() == rows.axis)
      results.push_back({positions(op->getLoc()), true});
    else if (auto store = dyn_cast<StoreOp>(op); store && variesValue(store.getValue()))
      run::WriteOp::create(builder, op->getLoc(), input(), store.getArena(), store.getOffset(), store.getName());
    else if (auto over = dyn_cast<OverOp>(op); over && over.getAxis() == rows.axis) {
      Value result = combine(over, input());
      // What was a tree for each example is a tree.
      if (result.getType() != over.getType())
        result = RecastOp::create(builder, op->getLoc(), over.getType(), result).getResult();
      results.push_back({result, false});
    } else if (auto stack = dyn_cast<StackOp>(op); stack && stack.getAxis() == rows.axis)
      results.push_back({recastTo(stack.getType(), input()), false});
    else if (auto unstack = dyn_cast<UnstackOp>(op); unstack && unstack.getAxis() == rows.axis && !batched[0])
      results.push_back({plain(inputs[0]), true});
    else if (auto elements = dyn_cast<ElementsOp>(op); elements && elements.getAxis() == rows.axis && !batched[0])
      present = inputs[0];
    else if (isa<RecastOp>(op) && batched[0])
      results.push_back({plain(inputs[0]), true}); // the cut of a range is dropped with the axis
    else if (isa<DerivativeOp, WithBackwardOp>(op))
      return rebuild(op, inputs, results);
    else if (auto gradients = dyn_cast<PartGradientsOp>(op); gradients && variesValue(gradients.getLosses()))
      partGradients(gradients, inputs[0], results);
    else
      return copy(op, inputs, batched, results);
    return success();
  }

  /// A function with its derivative: the types of its arguments and results say which have the dimension.
  LogicalResult rebuild(Operation *op, ArrayRef<Value> inputs, SmallVectorImpl<Result> &results) {
    nd::BatchMap captured;
    SmallVector<Value> own = getInputs(op);
    for (size_t i = op->getNumOperands(); i < own.size(); ++i)
      captured[own[i]] = {inputs[i], variesValue(own[i])};
    OperationState state(op->getLoc(), op->getName());
    for (auto [old, input] : llvm::zip(op->getOperands(), inputs))
      state.addOperands(recastTo(batchedType(old.getType()), input));
    for (Type type : op->getResultTypes())
      state.addTypes(batchedType(type));
    state.propertiesAttr = op->getPropertiesAsAttribute();
    for (size_t r = 0; r < op->getNumRegions(); ++r)
      state.addRegion();
    Operation *made = builder.create(state);
    for (auto [from, to] : llvm::zip(op->getRegions(), made->getRegions()))
      if (failed(fill(from, to, captured))) {
        made->erase();
        return failure();
      }
    auto derivative = dyn_cast<DerivativeOp>(made);
    if (derivative && llvm::any_of(op->getResults(), varyingValue))
      derivative.setBatched(true);
    for (auto [old, result] : llvm::zip(op->getResults(), made->getResults()))
      results.push_back({variesValue(old) ? plain(result) : result, variesValue(old)});
    return success();
  }

  LogicalResult fill(Region &from, Region &to, const nd::BatchMap &captured) {
    OpBuilder::InsertionGuard guard(builder);
    Block &block = to.emplaceBlock();
    nd::BatchMap map = captured;
    for (BlockArgument argument : from.getArguments())
      map[argument] = {block.addArgument(batchedType(argument.getType()), argument.getLoc()), variesValue(argument)};
    builder.setInsertionPointToEnd(&block);
    if (failed(nd::batchBlock(builder, from.front(), map, request)))
      return failure();
    SmallVector<Value> yields;
    for (Value value : from.front().getTerminator()->getOperands()) {
      auto found = map.find(value);
      nd::BatchedValue now = found == map.end() ? nd::BatchedValue{value, false} : found->second;
      yields.push_back(recastTo(batchedType(value.getType()), variesValue(value) ? nd::batchedOf(builder, now, rows.size) : now.value));
    }
    YieldOp::create(builder, from.front().getTerminator()->getLoc(), yields);
    return success();
  }

  void partGradients(PartGradientsOp op, Value tree, SmallVectorImpl<Result> &results) {
    auto batched = [&](Value value) { return nd::withLeading(strip(cast<RankedTensorType>(value.getType())), rows.size); };
    auto made = PartGradientsOp::create(builder, op.getLoc(), batched(op.getLosses()), batched(op.getGradients()),
                                        op.getObjectiveAttr(), op.getPartsAttr(), tree);
    for (Value result : made->getResults())
      results.push_back({result, true});
  }

  /// Ops of dyn and run that know no examples stay, on values without the axis.
  LogicalResult copy(Operation *op, ArrayRef<Value> inputs, ArrayRef<bool> batched, SmallVectorImpl<Result> &results) {
    if (llvm::is_contained(batched, true))
      return op->emitError("a value for each ") << rows.axis << " reaches `" << op->getName().stripDialect() << "`";
    IRMapping operands;
    for (auto [old, now] : llvm::zip(op->getOperands(), inputs))
      operands.map(old, now);
    for (Value result : builder.clone(*op, operands)->getResults())
      results.push_back({result, false});
    return success();
  }

  /// Of the part that the objective's last argument numbers.
  Value firstRow() {
    Value part = block.getArguments().back();
    auto type = cast<RankedTensorType>(part.getType());
    Value size = splat(part.getLoc(), type, double(rows.size));
    return nd::MulOp::create(builder, part.getLoc(), part, size).getResult();
  }

  Value positions(Location loc) {
    auto type = RankedTensorType::get({rows.size}, builder.getI64Type());
    Value places = nd::IotaOp::create(builder, loc, type, uint64_t(0)).getResult();
    if (!first)
      return places;
    Value base = nd::BroadcastOp::create(builder, loc, first, type.getShape(), ArrayRef<int64_t>{}).getResult();
    return nd::AddOp::create(builder, loc, base, places).getResult();
  }

  Value count(Location loc) {
    auto type = RankedTensorType::get({}, builder.getI64Type());
    if (present) {
      Value ones = nd::CastOp::create(builder, loc, present, type.getElementType()).getResult();
      return nd::ReduceOp::create(builder, loc, ones, nd::ReduceKind::sum, ArrayRef<int64_t>{0}).getResult();
    }
    if (rows.masked)
      return run::CountOp::create(builder, loc, type, rows.feed).getResult();
    return nd::ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, builder.getI64IntegerAttr(rows.size)))
        .getResult();
  }

  Value batchRows(Location loc, uint64_t feed) {
    auto type = RankedTensorType::get({rows.size * rows.parts}, builder.getI64Type());
    Value all = run::RowsOp::create(builder, loc, type, feed).getResult();
    return first ? nd::GatherOp::create(builder, loc, all, positions(loc), uint64_t(0)).getResult() : all;
  }

  Value rowNumbers(RowOp row) {
    return row.getWhole() ? positions(row.getLoc()) : batchRows(row.getLoc(), row.getFeed());
  }

  /// Rows of the arena that the batch names, or all of it in order.
  Value readField(FieldOp field) {
    auto one = cast<RankedTensorType>(field.getType());
    auto type = RankedTensorType::get(one.getShape(), one.getElementType());
    auto all = nd::withLeading(type, field.getRows());
    Location loc = field.getLoc();
    Value value = run::ReadOp::create(builder, loc, all, field.getArena(), uint64_t(0), field.getName()).getResult();
    if (!field.getWhole() || first) {
      Value which = field.getWhole() ? positions(loc) : batchRows(loc, field.getFeed());
      value = nd::GatherOp::create(builder, loc, value, which, uint64_t(0)).getResult();
    }
    return value;
  }

  Value splat(Location loc, RankedTensorType type, double number) {
    Type element = type.getElementType();
    Attribute attr = isa<FloatType>(element) ? Attribute(builder.getFloatAttr(element, number))
                                             : Attribute(builder.getIntegerAttr(element, int64_t(number)));
    return nd::ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, attr)).getResult();
  }

  /// What an absent row counts as.
  static double neutral(OverKind kind, Type element) {
    bool real = isa<FloatType>(element);
    switch (kind) {
    case OverKind::max: return real ? -std::numeric_limits<double>::infinity() : double(std::numeric_limits<int64_t>::min());
    case OverKind::min: return real ? std::numeric_limits<double>::infinity() : double(std::numeric_limits<int64_t>::max());
    case OverKind::all: return 1;
    default: return 0;
    }
  }

  /// Which elements are there, where some may not be; null: all of them.
  Value there(Location loc) {
    if (present || !rows.masked)
      return present;
    Value wide = nd::BroadcastOp::create(builder, loc, count(loc), ArrayRef<int64_t>{rows.size}, ArrayRef<int64_t>{}).getResult();
    return nd::CompareOp::create(builder, loc, nd::CompareKind::lt, positions(loc), wide).getResult();
  }

  /// `input` is the batched operand.
  Value combine(OverOp over, Value input) {
    Location loc = over.getLoc();
    if (over.getKind() == OverKind::count) {
      Value size = count(loc);
      auto type = cast<RankedTensorType>(over.getType());
      if (type.getRank())
        size = nd::BroadcastOp::create(builder, loc, size, type.getShape(), ArrayRef<int64_t>{}).getResult();
      return size;
    }
    auto type = cast<RankedTensorType>(input.getType());
    if (Value here = there(loc)) {
      if (type.getRank() > 1)
        here = nd::BroadcastOp::create(builder, loc, here, type.getShape(), ArrayRef<int64_t>{0}).getResult();
      input = nd::SelectOp::create(builder, loc, here, input, splat(loc, type, neutral(over.getKind(), type.getElementType()))).getResult();
    }
    Value result = nd::ReduceOp::create(builder, loc, input, expand::reductionOf(over.getKind()), ArrayRef<int64_t>{0}).getResult();
    if (over.getKind() == OverKind::mean) {
      auto out = cast<RankedTensorType>(result.getType());
      Value size = nd::CastOp::create(builder, loc, count(loc), out.getElementType()).getResult();
      if (out.getRank())
        size = nd::BroadcastOp::create(builder, loc, size, out.getShape(), ArrayRef<int64_t>{}).getResult();
      result = nd::DivOp::create(builder, loc, result, size).getResult();
    }
    return result;
  }

  Block &block;
  Rows rows;
  OpBuilder builder;
  BatchRequest request;
  Value first;   ///< row of the batch that element 0 is; null: 0
  Value present; ///< what `dyn.elements` says of the axis; null: nothing does
  const std::function<bool(Value)> varyingValue = [this](Value value) { return variesValue(value); };
  const std::function<bool(Operation *)> varying = [this](Operation *op) { return varies(op); };
  /// Called while `request` is in use.
  const std::function<LogicalResult(OpBuilder &, Operation *, ArrayRef<Value>, ArrayRef<bool>, SmallVectorImpl<Result> &)>
      rewriting = [this](OpBuilder &at, Operation *op, ArrayRef<Value> inputs, ArrayRef<bool> batched,
                         SmallVectorImpl<Result> &results) { return rewrite(at, op, inputs, batched, results); };
};

/// Whether no value would have two new dimensions; an error otherwise.
LogicalResult checkOneAxis(Operation *body) {
  WalkResult result = body->walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto axes = dyn_cast_if_present<AxesAttr>(cast<RankedTensorType>(type).getEncoding()); axes && axes.getNames().size() > 1) {
        op->emitError("one value for each ") << axes.getNames()[0].getValue() << " and each " << axes.getNames()[1].getValue()
                                             << " is not lowered yet";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// How many parts the batch has in a body: 0 if nobody asks. Fails where two ask for different ones.
FailureOr<int64_t> partsIn(Operation *body) {
  int64_t parts = 0;
  WalkResult result = body->walk([&](Operation *op) {
    if (auto gradients = dyn_cast<PartGradientsOp>(op)) {
      if (parts && parts != int64_t(gradients.getParts()))
        return WalkResult(op->emitError("cuts the batch into other parts than before"));
      parts = gradients.getParts();
    }
    return WalkResult::advance();
  });
  return result.wasInterrupted() ? FailureOr<int64_t>(failure()) : parts;
}

struct BatchExample : public expand::impl::BatchExamplePassBase<BatchExample> {
  void runOnOperation() override {
    expand::expandSegments(getOperation());
    expand::makePartObjectives(getOperation());
    WalkResult result = getOperation().walk([&](Operation *op) {
      if (!isa<ObjectiveOp, SocketOp>(op))
        return WalkResult::advance();
      return failed(batch(op)) ? WalkResult::interrupt() : WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  LogicalResult batch(Operation *op) {
    Block &block = op->getRegion(0).front();
    FailureOr<int64_t> parts = partsIn(op);
    if (failed(parts) || failed(checkOneAxis(op)))
      return failure();
    SmallVector<ElementsOp> classes;
    op->walk([&](ElementsOp elements) { classes.push_back(elements); });
    for (auto [axis, size] : llvm::map_to_vector(classes, [](ElementsOp elements) {
           return std::pair(elements.getAxisAttr(), cast<RankedTensorType>(elements.getPresent().getType()).getDimSize(0));
         }))
      if (failed(BodyBatcher(block, {axis.getValue(), -1, size, false, 1}).run()))
        return failure();
    if (*parts && failed(BodyBatcher(block, {"part", -1, *parts, false, 1}).run()))
      return failure();
    Rows examples{"example", -1, 0, false, 1};
    if (auto objective = dyn_cast<ObjectiveOp>(op))
      examples = {"example", int64_t(objective.getFeed()), int64_t(objective.getBatch()), objective.getMasked(),
                  expand::partsOf(objective)};
    else if (auto socket = dyn_cast<SocketOp>(op))
      examples = {"example", int64_t(socket.getFeed()), int64_t(socket.getBatch()), socket.getMasked(), 1};
    return BodyBatcher(block, examples).run();
  }
};
} // namespace
