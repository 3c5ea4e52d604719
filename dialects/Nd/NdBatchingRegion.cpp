// Batching rules of scan, while and cond.
#include "dialects/Nd/NdBatch.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

using Results = FailureOr<SmallVector<Value>>;

/// Dimensions 0 and 1 exchanged: rows of a stack, or a stack of rows.
static Value swapLeading(OpBuilder &builder, Location loc, Value x) {
  SmallVector<int64_t> perm = range(0, typeOf(x).getRank());
  std::swap(perm[0], perm[1]);
  return TransposeOp::create(builder, loc, x, perm);
}

/// The map from outside values that a region op uses to what stands for them.
static BatchMap mapCaptures(Operation *op, ArrayRef<Value> inputs, ArrayRef<bool> batched) {
  BatchMap map;
  SmallVector<Value> own = getInputs(op);
  for (size_t i = op->getNumOperands(); i < own.size(); ++i)
    map[own[i]] = {inputs[i], batched[i]};
  return map;
}

static BatchedValue lookup(const BatchMap &map, Value value) {
  auto found = map.find(value);
  return found == map.end() ? BatchedValue{value, false} : found->second;
}

/// What a block yields when some values are batched: one flag an operand of its terminator.
static SmallVector<bool> yieldsBatched(Block &block, llvm::DenseSet<Value> batched, const BatchRequest &request) {
  for (Operation &op : block.without_terminator()) {
    bool any = request.varies && request.varies(&op);
    any |= llvm::any_of(getInputs(&op), [&](Value input) { return batched.contains(input); });
    for (Value result : op.getResults())
      if (request.variesValue ? request.variesValue(result) : any)
        batched.insert(result);
  }
  return llvm::map_to_vector(block.getTerminator()->getOperands(),
                             [&](Value value) { return batched.contains(value); });
}

/// Batches a region's block whose arguments are in `map`; gives what it yields.
static FailureOr<SmallVector<BatchedValue>> batchRegion(OpBuilder &builder, Region &region, BatchMap &map,
                                                        const BatchRequest &request) {
  if (failed(batchBlock(builder, region.front(), map, request)))
    return failure();
  SmallVector<BatchedValue> yields;
  for (Value value : region.front().getTerminator()->getOperands())
    yields.push_back(lookup(map, value));
  return yields;
}

static SmallVector<Value> allBatched(OpBuilder &builder, ArrayRef<BatchedValue> values, int64_t size) {
  return llvm::map_to_vector(values, [&](BatchedValue value) { return batchedOf(builder, value, size); });
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

/// Which carries come to be batched: repeated until nothing changes, so that counters stay one for all rows.
static SmallVector<bool> batchedCarries(ScanOp op, const BatchMap &captures, ArrayRef<bool> batched,
                                        const BatchRequest &request) {
  size_t count = op.getInits().size();
  SmallVector<bool> carries(batched.take_front(count));
  for (bool changed = true; changed;) {
    llvm::DenseSet<Value> from;
    for (auto &[value, given] : captures)
      if (given.batched)
        from.insert(value);
    for (auto [argument, is] : llvm::zip(op.getCarryArgs(), carries))
      if (is)
        from.insert(argument);
    for (auto [argument, is] : llvm::zip(op.getRowArgs(), batched.slice(count, op.getXs().size())))
      if (is)
        from.insert(argument);
    SmallVector<bool> yields = yieldsBatched(op.getBody().front(), from, request);
    changed = false;
    for (size_t c = 0; c < count; ++c)
      if (yields[c] && !carries[c])
        changed = carries[c] = true;
  }
  return carries;
}

Results ScanOp::buildBatched(OpBuilder &builder, ArrayRef<Value> inputs, ArrayRef<bool> batched,
                             const BatchRequest &request) {
  size_t count = getInits().size(), rows = getXs().size();
  BatchMap map = mapCaptures(*this, inputs, batched);
  SmallVector<bool> carries = batchedCarries(*this, map, batched, request);
  SmallVector<Value> inits, xs;
  for (size_t c = 0; c < count; ++c)
    inits.push_back(carries[c] ? batchedOf(builder, {inputs[c], batched[c]}, request.size) : inputs[c]);
  for (size_t x = count; x < count + rows; ++x)
    xs.push_back(batched[x] ? swapLeading(builder, getLoc(), inputs[x]) : inputs[x]);
  bool fine = true;
  auto scan = ScanOp::create(
      builder, getLoc(), inits, xs, getTrip(), getReverse(),
      [&](OpBuilder &b, Location, Value i, ValueRange carried, ValueRange given) -> SmallVector<Value> {
        map[getIndexArg()] = {i, false};
        for (size_t c = 0; c < count; ++c)
          map[getCarryArgs()[c]] = {carried[c], carries[c]};
        for (size_t x = 0; x < rows; ++x)
          map[getRowArgs()[x]] = {given[x], batched[count + x]};
        auto yields = batchRegion(b, getBody(), map, request);
        fine = succeeded(yields);
        if (!fine)
          return SmallVector<Value>(carried);
        SmallVector<Value> values;
        for (auto [y, yield] : llvm::enumerate(*yields))
          values.push_back(y < count && !carries[y] ? yield.value : batchedOf(b, yield, request.size));
        return values;
      });
  if (!fine)
    return failure();
  SmallVector<Value> results;
  for (auto [r, result] : llvm::enumerate(scan.getResults()))
    results.push_back(r < count ? batchedOf(builder, {result, carries[r]}, request.size)
                                : swapLeading(builder, getLoc(), result));
  return results;
}

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

/// a where the row's flag is set, else b; all with the leading dimension.
static Value selectRows(OpBuilder &builder, Location loc, Value flags, Value a, Value b) {
  Value condition = broadcastTo(builder, loc, flags, shapeOf(a), {0});
  return SelectOp::create(builder, loc, condition, a, b);
}

// The loop runs while any row wants to; a row that is done keeps its values and its count.
Results WhileOp::buildBatched(OpBuilder &builder, ArrayRef<Value> inputs, ArrayRef<bool> batched,
                              const BatchRequest &request) {
  size_t count = getInits().size();
  int64_t size = request.size;
  SmallVector<Value> inits;
  for (size_t c = 0; c < count; ++c)
    inits.push_back(batchedOf(builder, {inputs[c], batched[c]}, size));
  inits.push_back(splat(builder, getLoc(), RankedTensorType::get({size}, builder.getI64Type()), 0));
  bool fine = true;
  BatchMap captures = mapCaptures(*this, inputs, batched);
  auto region = [&](OpBuilder &b, Region &region, ValueRange carried) -> SmallVector<Value> {
    BatchMap map = captures;
    for (auto [argument, value] : llvm::zip(region.getArguments(), carried))
      map[argument] = {value, true};
    auto yields = batchRegion(b, region, map, request);
    fine &= succeeded(yields);
    return fine ? allBatched(b, *yields, size) : SmallVector<Value>(carried);
  };
  auto loop = WhileOp::create(
      builder, getLoc(), inits, getLimit(),
      [&](OpBuilder &b, Location loc, ValueRange carried) -> Value {
        Value flags = region(b, getCondition(), carried)[0];
        return fine ? Value(ReduceOp::create(b, loc, flags, ReduceKind::any, ArrayRef<int64_t>{0})) : flags;
      },
      [&](OpBuilder &b, Location loc, ValueRange carried) {
        SmallVector<Value> next = region(b, getBody(), carried);
        Value flags = region(b, getCondition(), carried)[0];
        if (!fine)
          return SmallVector<Value>(carried);
        for (size_t c = 0; c < count; ++c)
          next[c] = selectRows(b, loc, flags, next[c], carried[c]);
        Value one = CastOp::create(b, loc, flags, b.getI64Type());
        next.push_back(AddOp::create(b, loc, carried[count], one));
        return next;
      });
  if (!fine)
    return failure();
  return SmallVector<Value>(loop.getResults().drop_back());
}

//===----------------------------------------------------------------------===//
// cond
//===----------------------------------------------------------------------===//

// One condition for all rows: batched sides. One a row: both sides are computed and each row keeps its own; what the
// other side was (nan or inf) is dropped by the selection, and its derivative by the guard of masked cotangents.
Results CondOp::buildBatched(OpBuilder &builder, ArrayRef<Value> inputs, ArrayRef<bool> batched,
                             const BatchRequest &request) {
  BatchMap captures = mapCaptures(*this, inputs, batched);
  bool fine = true;
  auto side = [&](OpBuilder &b, Region &region) -> SmallVector<Value> {
    BatchMap map = captures;
    auto yields = batchRegion(b, region, map, request);
    fine &= succeeded(yields);
    return fine ? allBatched(b, *yields, request.size) : SmallVector<Value>();
  };
  if (!batched[0]) {
    auto cond = CondOp::create(
        builder, getLoc(), inputs[0], [&](OpBuilder &b, Location) { return side(b, getThenRegion()); },
        [&](OpBuilder &b, Location) { return side(b, getElseRegion()); });
    if (!fine)
      return failure();
    return SmallVector<Value>(cond.getResults());
  }
  SmallVector<Value> chosen = side(builder, getThenRegion()), other = side(builder, getElseRegion());
  if (!fine)
    return failure();
  for (auto [a, b] : llvm::zip(chosen, other))
    a = selectRows(builder, getLoc(), inputs[0], a, b);
  return chosen;
}
