//===- BatchExample.cpp - the axis `example` becomes a leading dimension --===//
//
// Each objective and socket says how many examples it sees. A new body is
// built beside the old one: ops of nd through Batchable, the ops of dyn at
// which the axis begins, spreads or ends by the rules here. Later passes may
// assume that no value carries `example`.
//
//===----------------------------------------------------------------------===//
#include "passes/expand/Passes.h"

#include "passes/expand/Kinds.h"
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
/// The examples of one objective or socket.
struct Rows {
  int64_t feed, size;
  bool masked;
};

/// Whether a value is one for each example.
static bool variesValue(Value value) { return carries(value.getType(), "example"); }

/// Whether an op, or one inside it, gives a value for each example.
static bool varies(Operation *op) {
  return op->walk([](Operation *inner) {
             return llvm::any_of(inner->getResults(), variesValue) ? WalkResult::interrupt() : WalkResult::advance();
           })
      .wasInterrupted();
}

class BodyBatcher {
public:
  BodyBatcher(Block &block, Rows rows) : block(block), rows(rows), builder(block.getParentOp()->getContext()) {
    request.size = rows.size;
    request.varies = varies;
    request.strip = strip;
    request.foreign = rewriting;
    request.variesValue = variesValue;
  }

  LogicalResult run() {
    Block fresh;
    builder.setInsertionPointToEnd(&fresh);
    nd::BatchMap map;
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

  static RankedTensorType strip(RankedTensorType type) {
    return RankedTensorType::get(type.getShape(), type.getElementType());
  }
  /// The type that stands for it in what is differentiated: how a tree is cut stays, so that each leaf is a variable.
  RankedTensorType batchedType(Type type) const {
    auto tensor = cast<RankedTensorType>(type);
    if (!carries(type, "example"))
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
    if (auto field = dyn_cast<FieldOp>(op))
      results.push_back({readField(field), true});
    else if (auto row = dyn_cast<RowOp>(op))
      results.push_back({rowNumbers(row), true});
    else if (isa<VaryOp>(op))
      results.push_back({variesValue(op->getResult(0)) ? input() : inputs[0], variesValue(op->getResult(0))});
    else if (isa<IndexOp>(op))
      results.push_back({positions(op->getLoc()), true});
    else if (auto store = dyn_cast<StoreOp>(op))
      run::WriteOp::create(builder, op->getLoc(), input(), store.getArena(), store.getOffset(), store.getName());
    else if (auto over = dyn_cast<OverOp>(op)) {
      Value result = combine(over, over.getAxis() == "example" ? input() : Value());
      if (!result)
        return failure();
      // What was a tree for each example is a tree.
      if (result.getType() != over.getType())
        result = RecastOp::create(builder, op->getLoc(), over.getType(), result).getResult();
      results.push_back({result, false});
    } else if (isa<RecastOp>(op) && batched[0])
      results.push_back({plain(inputs[0]), true}); // the cut of a range is dropped with the axis
    else if (isa<DerivativeOp, WithBackwardOp>(op))
      return rebuild(op, inputs, results);
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
    if (derivative && llvm::any_of(op->getResults(), variesValue))
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

  /// Ops of dyn and run that know no examples stay, on values without the axis.
  LogicalResult copy(Operation *op, ArrayRef<Value> inputs, ArrayRef<bool> batched, SmallVectorImpl<Result> &results) {
    if (llvm::is_contained(batched, true))
      return op->emitError("a value for each example reaches `") << op->getName().stripDialect() << "`";
    IRMapping operands;
    for (auto [old, now] : llvm::zip(op->getOperands(), inputs))
      operands.map(old, now);
    for (Value result : builder.clone(*op, operands)->getResults())
      results.push_back({result, false});
    return success();
  }

  Value positions(Location loc) {
    auto type = RankedTensorType::get({rows.size}, builder.getI64Type());
    return nd::IotaOp::create(builder, loc, type, uint64_t(0)).getResult();
  }

  Value count(Location loc) {
    auto type = RankedTensorType::get({}, builder.getI64Type());
    if (rows.masked)
      return run::CountOp::create(builder, loc, type, rows.feed).getResult();
    return nd::ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, builder.getI64IntegerAttr(rows.size)))
        .getResult();
  }

  Value batchRows(Location loc, uint64_t feed) {
    auto type = RankedTensorType::get({rows.size}, builder.getI64Type());
    return run::RowsOp::create(builder, loc, type, feed).getResult();
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
    if (!field.getWhole()) {
      Value which = batchRows(loc, field.getFeed());
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

  /// `input` is the batched operand; null: reported.
  Value combine(OverOp over, Value input) {
    Location loc = over.getLoc();
    if (!input) {
      over.emitError("the axis `") << over.getAxis() << "` is not lowered yet";
      return {};
    }
    if (over.getKind() == OverKind::count) {
      Value size = count(loc);
      auto type = cast<RankedTensorType>(over.getType());
      if (type.getRank())
        size = nd::BroadcastOp::create(builder, loc, size, type.getShape(), ArrayRef<int64_t>{}).getResult();
      return size;
    }
    auto type = cast<RankedTensorType>(input.getType());
    if (rows.masked) {
      Value wide = nd::BroadcastOp::create(builder, loc, count(loc), ArrayRef<int64_t>{rows.size}, ArrayRef<int64_t>{}).getResult();
      Value present = nd::CompareOp::create(builder, loc, nd::CompareKind::lt, positions(loc), wide).getResult();
      if (type.getRank() > 1)
        present = nd::BroadcastOp::create(builder, loc, present, type.getShape(), ArrayRef<int64_t>{0}).getResult();
      input = nd::SelectOp::create(builder, loc, present, input, splat(loc, type, neutral(over.getKind(), type.getElementType()))).getResult();
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
  /// Called while `request` is in use.
  const std::function<LogicalResult(OpBuilder &, Operation *, ArrayRef<Value>, ArrayRef<bool>, SmallVectorImpl<Result> &)>
      rewriting = [this](OpBuilder &at, Operation *op, ArrayRef<Value> inputs, ArrayRef<bool> batched,
                         SmallVectorImpl<Result> &results) { return rewrite(at, op, inputs, batched, results); };
};

struct BatchExample : public expand::impl::BatchExamplePassBase<BatchExample> {
  void runOnOperation() override {
    expand::expandSegments(getOperation());
    WalkResult result = getOperation().walk([&](Operation *op) {
      Rows rows{-1, 0, false};
      if (auto objective = dyn_cast<ObjectiveOp>(op))
        rows = {int64_t(objective.getFeed()), int64_t(objective.getBatch()), objective.getMasked()};
      else if (auto socket = dyn_cast<SocketOp>(op))
        rows = {int64_t(socket.getFeed()), int64_t(socket.getBatch()), socket.getMasked()};
      else
        return WalkResult::advance();
      if (failed(BodyBatcher(op->getRegion(0).front(), rows).run()))
        return WalkResult::interrupt();
      return WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
