#include "passes/expand/Segments.h"

#include "passes/expand/Kinds.h"

using namespace mlir;
using namespace dyn;
using namespace dyn::ir;

static LeavesAttr leavesOf(Value value) {
  return cast<LeavesAttr>(rangeOf(cast<RankedTensorType>(value.getType()).getEncoding()));
}

/// The same elements as one dimension that is not cut.
static Value flat(OpBuilder &builder, Value value) {
  return RecastOp::create(builder, value.getLoc(), withRange(value.getType(), {}), value).getResult();
}

/// leaf_reduce(x)_s = segment_reduce(x, offsets)_s
static void expandReduce(LeafReduceOp op) {
  OpBuilder builder(op);
  SmallVector<int64_t> offsets = leavesOf(op.getInput()).offsets();
  Value sums = nd::SegmentReduceOp::create(builder, op.getLoc(), flat(builder, op.getInput()),
                                           expand::reductionOf(op.getKind()), ArrayRef<int64_t>(offsets))
                   .getResult();
  op.replaceAllUsesWith(RecastOp::create(builder, op.getLoc(), op.getType(), sums).getResult());
  op.erase();
}

/// leaf_spread(s) = segment_spread(s, offsets)
static void expandSpread(LeafSpreadOp op) {
  OpBuilder builder(op);
  SmallVector<int64_t> offsets = leavesOf(op.getResult()).offsets();
  Value wide =
      nd::SegmentSpreadOp::create(builder, op.getLoc(), flat(builder, op.getInput()), ArrayRef<int64_t>(offsets)).getResult();
  op.replaceAllUsesWith(RecastOp::create(builder, op.getLoc(), op.getType(), wide).getResult());
  op.erase();
}

void expand::expandSegments(Operation *root) {
  root->walk([](Operation *op) {
    if (auto reduce = dyn_cast<LeafReduceOp>(op))
      expandReduce(reduce);
    else if (auto spread = dyn_cast<LeafSpreadOp>(op))
      expandSpread(spread);
  });
}
