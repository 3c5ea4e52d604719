// One `dyn.derivative` as ops of nd: the function at the point, then a sweep. A tree is a point with one variable a leaf,
// so that the parts of its gradient are joined once and none is padded to the whole.
#include "passes/expand/Derivatives.h"

#include "dialects/Nd/NdBatch.h"
#include "dialects/Nd/NdSweep.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace dyn;
using namespace dyn::ir;

static RankedTensorType tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }

SmallVector<Value> expand::flatLeaves(OpBuilder &builder, Location loc, Value tree) {
  auto encoding = cast<TreeAttr>(tensorOf(tree).getEncoding());
  Value flat = RecastOp::create(builder, loc, withEncoding(tree.getType(), {}), tree).getResult();
  SmallVector<int64_t> cuts = encoding.offsets(), sizes(nd::shapeOf(flat)), starts(sizes.size(), 0), strides(sizes.size(), 1);
  SmallVector<Value> leaves;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    starts.back() = cuts[i];
    sizes.back() = cuts[i + 1] - cuts[i];
    leaves.push_back(nd::SliceOp::create(builder, loc, flat, ArrayRef<int64_t>(starts), ArrayRef<int64_t>(sizes),
                                         ArrayRef<int64_t>(strides))
                         .getResult());
  }
  return leaves;
}

namespace {
/// A point, and the values that its derivative is taken by: itself, or the leaves of a tree.
struct Point {
  Value whole;
  SmallVector<Value> parts;
};

class Expansion {
public:
  Expansion(DerivativeOp op, RefuseFn refuse) : op(op), refuse(refuse), builder(op), loc(op.getLoc()) {}

  FailureOr<SmallVector<Value>> run() {
    for (auto [point, argument] : llvm::zip(op.getPoints(), op.getBody().getArguments()))
      points.push_back(pointAt(point, argument));
    cloneFunction();
    for (const Point &point : points)
      llvm::append_range(variables, point.parts);
    if (failed(op.getMode() == DerivativeMode::forward   ? forward()
               : op.getMode() == DerivativeMode::reverse ? reverse()
                                                         : jacobian()))
      return failure();
    llvm::append_range(values, derivatives);
    for (auto [value, result] : llvm::zip(values, op.getResults()))
      if (value.getType() != result.getType())
        value = RecastOp::create(builder, loc, result.getType(), value).getResult();
    op.replaceAllUsesWith(values);
    op.erase();
    return values;
  }

private:
  /// A value of its own: the function may use what the point was made of as well, and that is constant.
  Point pointAt(Value value, BlockArgument argument) {
    auto tree = dyn_cast_if_present<TreeAttr>(tensorOf(value).getEncoding());
    if (!tree) {
      Value own = RecastOp::create(builder, loc, value.getType(), value).getResult();
      return {own, {own}};
    }
    SmallVector<Value> leaves = expand::flatLeaves(builder, loc, value);
    takeLeaves(argument, leaves);
    return {joined(leaves, value.getType()), leaves};
  }

  /// What the function slices out of the tree as a leaf is that leaf.
  static void takeLeaves(Value tree, ArrayRef<Value> leaves) {
    for (Operation *user : llvm::make_early_inc_range(tree.getUsers())) {
      auto recast = dyn_cast<RecastOp>(user);
      if (!recast || recast.getType().getEncoding())
        continue;
      for (Operation *inner : llvm::make_early_inc_range(recast.getResult().getUsers()))
        if (auto slice = dyn_cast<nd::SliceOp>(inner))
          for (size_t i = 0; i < leaves.size(); ++i)
            if (sameSlice(slice, leaves[i].getDefiningOp<nd::SliceOp>())) {
              slice.replaceAllUsesWith(leaves[i]);
              break;
            }
    }
  }

  static bool sameSlice(nd::SliceOp a, nd::SliceOp b) {
    return a.getOffsets() == b.getOffsets() && a.getSizes() == b.getSizes() && a.getStrides() == b.getStrides();
  }

  /// The parts end to end, in the form of the whole.
  Value joined(ArrayRef<Value> parts, Type type) {
    if (parts.size() == 1 && parts.front().getType() == type)
      return parts.front();
    Value flat = parts.size() == 1 ? parts.front()
                                   : nd::ConcatOp::create(builder, loc, ValueRange(parts), uint64_t(tensorOf(parts.front()).getRank() - 1)).getResult();
    return RecastOp::create(builder, loc, type, flat).getResult();
  }

  void cloneFunction() {
    IRMapping map;
    for (auto [argument, point] : llvm::zip(op.getBody().getArguments(), points))
      map.map(argument, point.whole);
    for (Operation &inner : op.getBody().front().without_terminator())
      builder.clone(inner, map);
    for (Value value : op.getValues())
      values.push_back(map.lookupOrDefault(value));
  }

  /// One value for each point from one a variable; zeros where there is none.
  SmallVector<Value> byPoint(ArrayRef<Value> each) {
    SmallVector<Value> whole;
    for (const Point &point : points) {
      SmallVector<Value> parts(each.take_front(point.parts.size()));
      each = each.drop_front(point.parts.size());
      for (auto [part, variable] : llvm::zip(parts, point.parts))
        part = part ? part : nd::zerosOf(builder, variable);
      whole.push_back(joined(parts, point.whole.getType()));
    }
    return whole;
  }

  LogicalResult reverse() {
    SmallVector<Value> gradients;
    if (failed(nd::reverseSweep(builder, values, SmallVector<Value>(op.getDirections()), variables, /*masked=*/false,
                                refuse, gradients)))
      return failure();
    derivatives = byPoint(gradients);
    return success();
  }

  LogicalResult forward() {
    SmallVector<Value> tangents;
    for (auto [point, direction] : llvm::zip(points, op.getDirections())) {
      if (isa_and_present<TreeAttr>(tensorOf(direction).getEncoding()))
        llvm::append_range(tangents, expand::flatLeaves(builder, loc, direction));
      else
        tangents.push_back(direction);
    }
    return push(builder, tangents, derivatives);
  }

  /// How the values move along tangents; zeros for those that do not.
  LogicalResult push(OpBuilder &at, ArrayRef<Value> tangents, SmallVectorImpl<Value> &moved) {
    if (failed(nd::forwardSweep(at, values, variables, tangents, refuse, moved)))
      return failure();
    for (auto [tangent, value] : llvm::zip(moved, values))
      tangent = tangent ? tangent : nd::zerosOf(at, value);
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Jacobians: one sweep, batched over the unit vectors
  //===--------------------------------------------------------------------===//

  /// Elements without the leading dimension of a batch.
  int64_t elements(Type type) {
    auto shape = cast<RankedTensorType>(type).getShape();
    return ShapedType::getNumElements(op.getBatched() ? shape.drop_front() : shape);
  }

  /// The rows of the identity in the shape of `like`, stacked in front; the same for each element of the batch.
  Value unitVectors(RankedTensorType like) {
    int64_t count = elements(like);
    auto square = RankedTensorType::get({count, count}, builder.getI64Type());
    Value row = nd::IotaOp::create(builder, loc, square, uint64_t(0)).getResult();
    Value column = nd::IotaOp::create(builder, loc, square, uint64_t(1)).getResult();
    Value same = nd::CompareOp::create(builder, loc, nd::CompareKind::eq, row, column).getResult();
    Value units = nd::CastOp::create(builder, loc, same, like.getElementType()).getResult();
    SmallVector<int64_t> shape{count};
    ArrayRef<int64_t> own = op.getBatched() ? like.getShape().drop_front() : like.getShape();
    llvm::append_range(shape, own);
    units = nd::ReshapeOp::create(builder, loc, units, ArrayRef<int64_t>(shape)).getResult();
    if (!op.getBatched())
      return units;
    SmallVector<int64_t> kept{0};
    for (size_t d = 0; d < own.size(); ++d)
      kept.push_back(int64_t(d) + 2);
    return nd::BroadcastOp::create(builder, loc, units, nd::withLeading(like, count).getShape(), ArrayRef<int64_t>(kept))
        .getResult();
  }

  /// The ops that `sweep` builds from one direction like `like`, for all unit vectors at once: results get a leading
  /// dimension of their number.
  LogicalResult overUnits(RankedTensorType like,
                          llvm::function_ref<LogicalResult(OpBuilder &, Value, SmallVectorImpl<Value> &)> sweep,
                          SmallVectorImpl<Value> &results) {
    Region region;
    Block &scratch = region.emplaceBlock();
    Value direction = scratch.addArgument(like, loc);
    OpBuilder inside(op.getContext());
    inside.setInsertionPointToEnd(&scratch);
    SmallVector<Value> single;
    if (failed(sweep(inside, direction, single)))
      return failure();
    nd::BatchMap map;
    map[direction] = {unitVectors(like), true};
    auto foreign = [](OpBuilder &at, Operation *inner, ArrayRef<Value> inputs, ArrayRef<bool> batched,
                      SmallVectorImpl<std::pair<Value, bool>> &made) { return batchRecast(at, inner, inputs, batched, made); };
    BatchRequest request{elements(like), {}, {}, foreign};
    for (Operation &inner : scratch)
      if (failed(nd::batchOp(builder, &inner, map, request)))
        return failure();
    for (Value value : single) {
      auto found = map.find(value);
      nd::BatchedValue made = found == map.end() ? nd::BatchedValue{value, false} : found->second;
      results.push_back(nd::batchedOf(builder, made, request.size));
    }
    scratch.dropAllReferences();
    return success();
  }

  static LogicalResult batchRecast(OpBuilder &at, Operation *inner, ArrayRef<Value> inputs, ArrayRef<bool> batched,
                                   SmallVectorImpl<std::pair<Value, bool>> &made) {
    auto recast = dyn_cast<RecastOp>(inner);
    if (!recast)
      return inner->emitError("`") << inner->getName().stripDialect() << "` cannot be made for a batch";
    auto type = cast<RankedTensorType>(recast.getType());
    if (batched[0])
      type = nd::withLeading(type, tensorOf(inputs[0]).getDimSize(0));
    made.push_back({RecastOp::create(at, inner->getLoc(), type, inputs[0]).getResult(), batched[0]});
    return success();
  }

  /// `stack` has the unit vectors in front; gives it the shape of a result, with them before or after the rest.
  Value placed(Value stack, Type wanted, bool unitsLast) {
    auto type = cast<RankedTensorType>(wanted);
    int64_t count = tensorOf(stack).getDimSize(0), batch = op.getBatched() ? type.getDimSize(0) : 1;
    int64_t rest = count * batch ? tensorOf(stack).getNumElements() / (count * batch) : 0;
    Value cube = nd::ReshapeOp::create(builder, loc, stack, ArrayRef<int64_t>{count, batch, rest}).getResult();
    SmallVector<int64_t> order = unitsLast ? SmallVector<int64_t>{1, 2, 0} : SmallVector<int64_t>{1, 0, 2};
    cube = nd::TransposeOp::create(builder, loc, cube, ArrayRef<int64_t>(order)).getResult();
    return nd::ReshapeOp::create(builder, loc, cube, type.getShape()).getResult();
  }

  LogicalResult jacobian() {
    int64_t in = 0, out = 0;
    for (Value point : op.getPoints())
      in += elements(point.getType());
    for (Value value : values)
      out += elements(value.getType());
    return in <= out ? byColumns() : byRows();
  }

  LogicalResult byRows() {
    size_t next = values.size();
    for (auto [v, value] : llvm::enumerate(values)) {
      SmallVector<Value> stacks;
      auto sweep = [&](OpBuilder &at, Value direction, SmallVectorImpl<Value> &made) {
        OpBuilder outer = std::exchange(builder, at);
        SmallVector<Value> gradients;
        LogicalResult good =
            nd::reverseSweep(builder, value, direction, variables, /*masked=*/false, refuse, gradients);
        if (succeeded(good))
          llvm::append_range(made, byPoint(gradients));
        builder = outer;
        return good;
      };
      if (failed(overUnits(tensorOf(value), sweep, stacks)))
        return failure();
      for (Value stack : stacks)
        derivatives.push_back(placed(stack, op.getResult(next++).getType(), /*unitsLast=*/false));
    }
    return success();
  }

  LogicalResult byColumns() {
    SmallVector<SmallVector<Value>> columns;
    for (size_t p = 0; p < points.size(); ++p) {
      SmallVector<Value> stacks;
      auto sweep = [&](OpBuilder &at, Value direction, SmallVectorImpl<Value> &made) {
        SmallVector<Value> tangents;
        for (size_t q = 0; q < points.size(); ++q)
          if (q == p && points[q].parts.size() > 1)
            llvm::append_range(tangents, expand::flatLeaves(at, loc, direction));
          else
            for (Value part : points[q].parts)
              tangents.push_back(q != p ? Value() : RecastOp::create(at, loc, part.getType(), direction).getResult());
        return push(at, tangents, made);
      };
      if (failed(overUnits(tensorOf(points[p].whole), sweep, stacks)))
        return failure();
      columns.push_back(stacks);
    }
    size_t next = values.size();
    for (size_t v = 0; v < values.size(); ++v)
      for (const auto &stacks : columns)
        derivatives.push_back(placed(stacks[v], op.getResult(next++).getType(), /*unitsLast=*/true));
    return success();
  }

  DerivativeOp op;
  RefuseFn refuse;
  OpBuilder builder;
  Location loc;
  SmallVector<Point> points;
  SmallVector<Value> variables, values, derivatives;
};
} // namespace

FailureOr<SmallVector<Value>> expand::expandDerivative(DerivativeOp op, RefuseFn refuse) { return Expansion(op, refuse).run(); }

void expand::dropBackward(Operation *root) {
  root->walk([](WithBackwardOp op) {
    OpBuilder builder(op);
    IRMapping map;
    map.map(op.getFunction().getArguments(), op.getInputs());
    for (Operation &inner : op.getFunction().front().without_terminator())
      builder.clone(inner, map);
    for (auto [result, value] : llvm::zip(op.getResults(), op.getFunction().front().getTerminator()->getOperands()))
      result.replaceAllUsesWith(map.lookupOrDefault(value));
    op.erase();
  });
}
