//===- Reassociate.cpp - sums of products in a cheaper order --------------===//
//
// A derivative for each row of a batch is an outer product a row: its norm, or
// a weighted sum over the rows, needs no outer product. This is algebra on
// sums of products (SumOfProducts.h), decided by cost: nothing here knows of
// gradients or layers. Afterwards what is repeated for each row is repeated as
// late as possible, and a sum over a concatenation is taken piece by piece
// where a piece gains by it.
//
//===----------------------------------------------------------------------===//
#include "passes/contract/Passes.h"

#include "passes/contract/SumOfProducts.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace dyn::contract {
#define GEN_PASS_DEF_REASSOCIATEPASS
#include "passes/contract/Passes.h.inc"
} // namespace dyn::contract

using namespace mlir;

namespace dyn::contract {
namespace {

/// slice(broadcast(x)) = broadcast(slice(x))
struct SliceOfBroadcast : OpRewritePattern<nd::SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nd::SliceOp op, PatternRewriter &rewriter) const override {
    auto wide = op.getInput().getDefiningOp<nd::BroadcastOp>();
    if (!wide)
      return rewriter.notifyMatchFailure(op, "not of a broadcast");
    SmallVector<int64_t> offsets, sizes, strides;
    for (int64_t d : wide.getDims()) {
      offsets.push_back(op.getOffsets()[d]);
      sizes.push_back(op.getSizes()[d]);
      strides.push_back(op.getStrides()[d]);
    }
    Value part = nd::SliceOp::create(rewriter, op.getLoc(), wide.getInput(), offsets, sizes, strides);
    rewriter.replaceOpWithNewOp<nd::BroadcastOp>(op, part, nd::shapeOf(op), wide.getDims());
    return success();
  }
};

/// reshape(x repeated in front) = reshape(x) repeated in front
struct ReshapeOfBroadcast : OpRewritePattern<nd::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nd::ReshapeOp op, PatternRewriter &rewriter) const override {
    auto wide = op.getInput().getDefiningOp<nd::BroadcastOp>();
    ArrayRef<int64_t> to = nd::shapeOf(op);
    if (!wide || wide.getDims().empty())
      return rewriter.notifyMatchFailure(op, "not of a broadcast");
    size_t front = wide.getDims().front(), rank = nd::shapeOf(wide).size();
    bool isInFront = front > 0 && wide.getDims().size() == rank - front && to.size() >= front &&
                     to.take_front(front) == nd::shapeOf(wide).take_front(front);
    if (!isInFront)
      return rewriter.notifyMatchFailure(op, "the repeated dimensions are not in front, or change");
    Value part = nd::ReshapeOp::create(rewriter, op.getLoc(), wide.getInput(), to.drop_front(front));
    rewriter.replaceOpWithNewOp<nd::BroadcastOp>(op, part, to, nd::range(front, to.size()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Where the parts of a concatenation stand.
struct Pieces {
  int64_t dim;
  SmallVector<int64_t> sizes;
};

/// The first concatenation among the operands of elementwise ops.
std::optional<Pieces> findConcat(Value x) {
  llvm::DenseSet<Operation *> seen;
  SmallVector<Value> work{x};
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (auto concat = dyn_cast<nd::ConcatOp>(op)) {
      int64_t dim = concat.getDim();
      return Pieces{dim, llvm::map_to_vector(concat->getOperands(), [&](Value part) { return nd::shapeOf(part)[dim]; })};
    }
    if (op->hasTrait<Elementwise>())
      llvm::append_range(work, op->getOperands());
  }
  return std::nullopt;
}

/// A part of a value along one dimension, taken as near to its sources as possible.
class Part {
public:
  Part(OpBuilder &builder, int64_t dim, int64_t from, int64_t size) : builder(builder), dim(dim), from(from), size(size) {}

  Value of(Value x) {
    auto [it, isNew] = made.try_emplace(x);
    if (!isNew)
      return it->second;
    Value part = make(x);
    return made[x] = part;
  }

private:
  SmallVector<int64_t> partShape(Value x) const {
    SmallVector<int64_t> shape(nd::shapeOf(x));
    shape[dim] = size;
    return shape;
  }

  Value make(Value x) {
    Operation *op = x.getDefiningOp();
    if (auto wide = dyn_cast_or_null<nd::BroadcastOp>(op); wide && !llvm::is_contained(wide.getDims(), dim))
      return nd::BroadcastOp::create(builder, x.getLoc(), wide.getInput(), partShape(x), wide.getDims());
    if (auto concat = dyn_cast_or_null<nd::ConcatOp>(op); concat && int64_t(concat.getDim()) == dim) {
      int64_t at = 0;
      for (Value operand : concat->getOperands()) {
        int64_t here = nd::shapeOf(operand)[dim];
        if (at == from && here == size)
          return operand;
        at += here;
      }
    }
    if (op && op->hasTrait<Elementwise>()) {
      OperationState state(op->getLoc(), op->getName());
      for (Value operand : op->getOperands())
        state.addOperands(of(operand));
      state.addTypes(RankedTensorType::get(partShape(x), nd::typeOf(x).getElementType()));
      if (op->getPropertiesStorageSize())
        state.propertiesAttr = op->getPropertiesAsAttribute();
      return builder.create(state)->getResult(0);
    }
    SmallVector<int64_t> offsets(nd::shapeOf(x).size(), 0), strides(offsets.size(), 1);
    offsets[dim] = from;
    return nd::SliceOp::create(builder, x.getLoc(), x, offsets, partShape(x), strides);
  }

  OpBuilder &builder;
  int64_t dim, from, size;
  llvm::DenseMap<Value, Value> made;
};

/// The sum of each piece of a concatenation; null where no piece gains by another order.
Value sumOfPieces(OpBuilder &builder, nd::ReduceOp op, const Pieces &pieces) {
  Location loc = op.getLoc();
  SmallVector<Value> sums;
  bool gains = false;
  int64_t from = 0;
  for (int64_t size : pieces.sizes) {
    Value part = Part(builder, pieces.dim, from, size).of(op.getInput());
    Value sum = SumOfProducts(builder, loc).sumOver(part, op.getDims());
    gains |= bool(sum);
    sums.push_back(sum ? sum : nd::ReduceOp::create(builder, loc, part, op.getKind(), op.getDims()).getResult());
    from += size;
  }
  if (!gains)
    return {};
  if (!llvm::is_contained(op.getDims(), pieces.dim)) {
    int64_t before = llvm::count_if(op.getDims(), [&](int64_t d) { return d < pieces.dim; });
    return nd::ConcatOp::create(builder, loc, ValueRange(sums), uint64_t(pieces.dim - before));
  }
  Value total = sums.front();
  for (Value sum : llvm::drop_begin(sums))
    total = nd::AddOp::create(builder, loc, total, sum);
  return total;
}

/// What stands for a sum where another order is cheaper, else null.
Value inCheaperOrder(nd::ReduceOp op) {
  if (op.getKind() != nd::ReduceKind::sum || op.getDims().empty())
    return {};
  OpBuilder builder(op);
  if (Value sum = SumOfProducts(builder, op.getLoc()).sumOver(op.getInput(), op.getDims()))
    return sum;
  auto pieces = nd::typeOf(op.getInput()).getRank() > 1 ? findConcat(op.getInput()) : std::nullopt;
  return pieces && pieces->sizes.size() > 1 ? sumOfPieces(builder, op, *pieces) : Value();
}

struct Reassociate : impl::ReassociatePassBase<Reassociate> {
  void runOnOperation() override {
    // First what is repeated, so that sums see products of what is not.
    RewritePatternSet late(&getContext());
    late.add<SliceOfBroadcast, ReshapeOfBroadcast>(&getContext());
    nd::ContractOp::getCanonicalizationPatterns(late, &getContext());
    nd::BroadcastOp::getCanonicalizationPatterns(late, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(late))))
      return signalPassFailure();
    SmallVector<nd::ReduceOp> sums;
    getOperation().walk([&](nd::ReduceOp op) { sums.push_back(op); });
    for (nd::ReduceOp op : sums)
      if (Value sum = inCheaperOrder(op)) {
        op.replaceAllUsesWith(sum);
        op.erase();
      }
    // What was looked at in vain has no users.
    (void)applyPatternsGreedily(getOperation(), FrozenRewritePatternSet());
  }
};

} // namespace
} // namespace dyn::contract
