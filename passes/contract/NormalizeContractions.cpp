//===- NormalizeContractions.cpp - contractions become matrix products ----===//
//
// After this pass a function has no nd.contract: products are kernel.product
// over row-major matrices, and contractions that lack a dimension of a matrix
// product are elementwise code and reductions.
//
//===----------------------------------------------------------------------===//
#include "passes/contract/Passes.h"
#include "passes/contract/WindowProducts.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace dyn::contract {
#define GEN_PASS_DEF_NORMALIZECONTRACTIONSPASS
#include "passes/contract/Passes.h.inc"
} // namespace dyn::contract

using namespace mlir;

namespace dyn::contract {
namespace {

/// A value whose dimensions have letters.
struct Lettered {
  Value value;
  std::string letters;
};

/// Builds the ops of one contraction.
class Contraction {
public:
  Contraction(OpBuilder &builder, nd::ContractOp op)
      : builder(builder), loc(op.getLoc()), a{op.getA(), op.getLhs().str()}, b{op.getB(), op.getRhs().str()},
        out(op.getOut().str()), resultType(cast<RankedTensorType>(op.getType())) {
    for (const Lettered *side : {&a, &b})
      for (auto [letter, size] : llvm::zip(side->letters, nd::shapeOf(side->value)))
        sizes[letter] = size;
  }

  Value build();

private:
  static bool has(const std::string &letters, char c) { return letters.find(c) != std::string::npos; }
  int64_t sizeOf(StringRef letters) {
    int64_t size = 1;
    for (char c : letters)
      size *= sizes[c];
    return size;
  }
  SmallVector<int64_t> shapeOf(StringRef letters) {
    return llvm::map_to_vector(letters, [&](char c) { return sizes[c]; });
  }
  /// Sums x over the letters that nobody else needs, and drops letters of size 1.
  void reduceAlone(Lettered &x, const std::string &other);
  void dropUnits(Lettered &x);
  /// x with its dimensions in the order of `letters` (a permutation of its own).
  Value arranged(const Lettered &x, const std::string &letters);
  /// x spread over `letters`, in which its own occur.
  Value spread(const Lettered &x, const std::string &letters);
  Value buildProduct(const std::string &batch, const std::string &m, const std::string &n, const std::string &k);
  Value buildElementwise(const std::string &k);
  /// A result with the letters `have`, brought to the result's order and shape.
  Value finish(Value x, const std::string &have);

  OpBuilder &builder;
  Location loc;
  Lettered a, b;
  std::string out;
  RankedTensorType resultType;
  std::map<char, int64_t> sizes;
};

void Contraction::reduceAlone(Lettered &x, const std::string &other) {
  SmallVector<int64_t> dims;
  std::string kept;
  for (auto [i, c] : llvm::enumerate(x.letters)) {
    if (has(out, c) || has(other, c))
      kept += c;
    else
      dims.push_back(i);
  }
  if (!dims.empty())
    x = {nd::ReduceOp::create(builder, loc, x.value, nd::ReduceKind::sum, dims), kept};
}

void Contraction::dropUnits(Lettered &x) {
  std::string kept;
  for (char c : x.letters)
    if (sizes[c] != 1)
      kept += c;
  if (kept.size() != x.letters.size())
    x = {nd::ReshapeOp::create(builder, loc, x.value, shapeOf(kept)), kept};
}

Value Contraction::arranged(const Lettered &x, const std::string &letters) {
  if (x.letters == letters)
    return x.value;
  auto perm = llvm::map_to_vector(letters, [&](char c) { return int64_t(x.letters.find(c)); });
  return nd::TransposeOp::create(builder, loc, x.value, perm);
}

Value Contraction::spread(const Lettered &x, const std::string &letters) {
  std::string order;
  for (char c : letters)
    if (has(x.letters, c))
      order += c;
  Value value = arranged(x, order);
  if (order == letters)
    return value;
  auto dims = llvm::map_to_vector(order, [&](char c) { return int64_t(letters.find(c)); });
  return nd::BroadcastOp::create(builder, loc, value, shapeOf(letters), dims);
}

Value Contraction::finish(Value x, const std::string &have) {
  std::string want;
  for (char c : out)
    if (has(have, c))
      want += c;
  Value value = arranged({x, have}, want);
  if (value.getType() == resultType)
    return value;
  return nd::ReshapeOp::create(builder, loc, value, resultType.getShape());
}

Value Contraction::buildElementwise(const std::string &k) {
  std::string kept;
  for (char c : out)
    if (sizes[c] != 1)
      kept += c;
  // Summed letters last or, if an operand runs along a kept one, first: then neighbours in memory are neighbours
  // in the loop.
  const Lettered &longer = a.letters.size() >= b.letters.size() ? a : b;
  bool first = !longer.letters.empty() && !kept.empty() && has(kept, longer.letters.back());
  std::string all = first ? k + kept : kept + k;
  Value product = nd::MulOp::create(builder, loc, spread(a, all), spread(b, all));
  if (k.empty())
    return finish(product, kept);
  int64_t at = first ? 0 : kept.size();
  if (k.size() > 1) {
    SmallVector<int64_t> shape = shapeOf(kept);
    shape.insert(shape.begin() + at, sizeOf(k));
    product = nd::ReshapeOp::create(builder, loc, product, shape);
  }
  Value sum = nd::ReduceOp::create(builder, loc, product, nd::ReduceKind::sum, ArrayRef<int64_t>{at});
  return finish(sum, kept);
}

Value Contraction::buildProduct(const std::string &batch, const std::string &m, const std::string &n,
                                const std::string &k) {
  // An operand may stand as [batch, rows, columns] or [batch, columns, rows]: no copy in either case.
  auto side = [&](const Lettered &x, const std::string &rows, const std::string &columns) {
    bool transposed = x.letters == batch + columns + rows;
    Value value = transposed ? x.value : arranged(x, batch + rows + columns);
    SmallVector<int64_t> shape;
    if (!batch.empty())
      shape.push_back(sizeOf(batch));
    shape.push_back(sizeOf(transposed ? columns : rows));
    shape.push_back(sizeOf(transposed ? rows : columns));
    if (nd::shapeOf(value) != ArrayRef<int64_t>(shape))
      value = nd::ReshapeOp::create(builder, loc, value, shape);
    return std::pair(value, transposed);
  };
  auto [left, transposeA] = side(a, m, k);
  auto [right, transposeB] = side(b, k, n);
  SmallVector<int64_t> shape;
  if (!batch.empty())
    shape.push_back(sizeOf(batch));
  shape.append({sizeOf(m), sizeOf(n)});
  auto type = RankedTensorType::get(shape, resultType.getElementType());
  auto product = kernel::ProductOp::create(builder, loc, type, left, right, transposeA, transposeB,
                                           /*window=*/DenseI64ArrayAttr());
  Value value = product;
  SmallVector<int64_t> full = shapeOf(batch + m + n);
  if (full != shape)
    value = nd::ReshapeOp::create(builder, loc, value, full);
  return finish(value, batch + m + n);
}

Value Contraction::build() {
  reduceAlone(a, b.letters);
  reduceAlone(b, a.letters);
  dropUnits(a);
  dropUnits(b);
  auto classify = [&] {
    std::array<std::string, 4> sets; // batch, m, n, k; batch, m, n in the order of the result
    for (char c : out) {
      if (sizes[c] != 1)
        sets[has(a.letters, c) ? (has(b.letters, c) ? 0 : 1) : 2] += c;
    }
    for (char c : a.letters)
      if (!has(out, c))
        sets[3] += c;
    return sets;
  };
  auto [batch, m, n, k] = classify();
  if (m.empty() || n.empty() || k.empty())
    return buildElementwise(k);
  // Columns first in the result: C^T = B^T A^T.
  if (out.find(n[0]) < out.find(m[0])) {
    std::swap(a, b);
    std::swap(m, n);
  }
  return buildProduct(batch, m, n, k);
}

/// sum over i of a_i b_i: see buildProduct and buildElementwise.
struct ContractPattern : OpRewritePattern<nd::ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nd::ContractOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, Contraction(rewriter, op).build());
    return success();
  }
};

/// reduce(x [.., a, b], {last two}) = reduce(reshape(x [.., ab]), {last}).
struct MergeReducedDims : OpRewritePattern<nd::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nd::ReduceOp op, PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> dims = op.getDims(), shape = nd::shapeOf(op.getInput());
    int64_t kept = shape.size() - dims.size();
    if (dims.empty()) {
      rewriter.replaceOp(op, op.getInput());
      return success();
    }
    if (dims.size() < 2 || kept == 0 || dims.front() != kept)
      return rewriter.notifyMatchFailure(op, "the dimensions are not several trailing ones");
    SmallVector<int64_t> merged(shape.take_front(kept));
    merged.push_back(ShapedType::getNumElements(shape.drop_front(kept)));
    Value flat = nd::ReshapeOp::create(rewriter, op.getLoc(), op.getInput(), merged);
    rewriter.replaceOpWithNewOp<nd::ReduceOp>(op, flat, op.getKind(), ArrayRef<int64_t>{kept});
    return success();
  }
};

/// reduce(reshape(x)) over all = reduce(x) over all.
struct ReduceOfReshape : OpRewritePattern<nd::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nd::ReduceOp op, PatternRewriter &rewriter) const override {
    auto reshape = op.getInput().getDefiningOp<nd::ReshapeOp>();
    if (!reshape || int64_t(op.getDims().size()) != nd::typeOf(op.getInput()).getRank())
      return rewriter.notifyMatchFailure(op, "not a total reduction of a reshape");
    Value x = reshape.getInput();
    rewriter.replaceOpWithNewOp<nd::ReduceOp>(op, x, op.getKind(), nd::range(0, nd::typeOf(x).getRank()));
    return success();
  }
};

/// reduce(x, {.., i, .., last}) = reduce(reduce(x, {last}), {.., i, ..}) where the dimensions are not side by side: rows
/// are summed first, along memory.
struct SplitReduction : OpRewritePattern<nd::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nd::ReduceOp op, PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> dims = op.getDims();
    int64_t rank = nd::typeOf(op.getInput()).getRank();
    bool apart = dims.size() >= 2 && dims.back() == rank - 1 && dims.front() + int64_t(dims.size()) != rank;
    if (!apart)
      return rewriter.notifyMatchFailure(op, "the dimensions are side by side");
    Value rows = nd::ReduceOp::create(rewriter, op.getLoc(), op.getInput(), op.getKind(), dims.take_back(1));
    rewriter.replaceOpWithNewOp<nd::ReduceOp>(op, rows, op.getKind(), dims.drop_back());
    return success();
  }
};

/// Where the piece of a flat pad ends.
int64_t endOf(nd::PadOp pad) { return pad.getLow()[0] + nd::shapeOf(pad.getInput())[0]; }

/// pad(a) + pad(b) + … over one range, pieces apart = concat(…a, zeros, b…).
struct PadSumToConcat : OpRewritePattern<nd::AddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nd::AddOp op, PatternRewriter &rewriter) const override {
    if (nd::typeOf(op).getRank() != 1)
      return rewriter.notifyMatchFailure(op, "not a flat range");
    for (Operation *user : op->getUsers())
      if (isa<nd::AddOp>(user) && op->hasOneUse())
        return rewriter.notifyMatchFailure(op, "the outermost sum is rewritten");
    SmallVector<nd::PadOp> pads;
    SmallVector<Value> work{op.getX(), op.getY()};
    while (!work.empty()) {
      Value v = work.pop_back_val();
      if (auto pad = v.getDefiningOp<nd::PadOp>())
        pads.push_back(pad);
      else if (auto add = v.getDefiningOp<nd::AddOp>(); add && add->hasOneUse())
        work.append({add.getX(), add.getY()});
      else
        return rewriter.notifyMatchFailure(op, "a term is not a padded piece");
    }
    llvm::sort(pads, [](nd::PadOp x, nd::PadOp y) { return x.getLow()[0] < y.getLow()[0]; });
    for (auto [x, y] : llvm::zip(pads, llvm::drop_begin(pads)))
      if (endOf(x) > y.getLow()[0])
        return rewriter.notifyMatchFailure(op, "pieces overlap");
    SmallVector<Value> pieces;
    int64_t at = 0;
    RankedTensorType type = nd::typeOf(op);
    auto fill = [&](int64_t upTo) {
      if (upTo > at)
        pieces.push_back(
            nd::splat(rewriter, op.getLoc(), RankedTensorType::get({upTo - at}, type.getElementType()), 0));
    };
    for (nd::PadOp pad : pads) {
      fill(pad.getLow()[0]);
      pieces.push_back(pad.getInput());
      at = endOf(pad);
    }
    fill(type.getDimSize(0));
    rewriter.replaceOpWithNewOp<nd::ConcatOp>(op, pieces, int64_t(0));
    return success();
  }
};

struct NormalizeContractions : impl::NormalizeContractionsPassBase<NormalizeContractions> {
  void runOnOperation() override {
    // First: what is a product with a window, and a window no longer.
    RewritePatternSet windows(&getContext());
    populateWindowProducts(windows);
    if (failed(applyPatternsGreedily(getOperation(), std::move(windows))))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    patterns.add<ContractPattern, MergeReducedDims, ReduceOfReshape, SplitReduction, PadSumToConcat>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace dyn::contract
