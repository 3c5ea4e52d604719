// Derivatives of reductions, running reductions and contractions.
#include "dialects/Nd/NdDerivativesInternals.h"
#include "dialects/Nd/NdExpression.h"

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

#define DIFFERENTIABLE(OP)                                                                                             \
  StringRef OP::notDifferentiableReason() { return {}; }
DIFFERENTIABLE(ReduceOp)
DIFFERENTIABLE(ContractOp)
DIFFERENTIABLE(SegmentReduceOp)
DIFFERENTIABLE(SegmentSpreadOp)
DIFFERENTIABLE(CumulateOp)
#undef DIFFERENTIABLE

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// Per dimension 0 line of x: the product of all elements but the own one. Without division, so zeros are fine.
static Value productOfOthers(OpBuilder &builder, Location loc, Value x) {
  int64_t rank = typeOf(x).getRank(), size = shapeOf(x)[0];
  if (size <= 1)
    return splat(builder, loc, typeOf(x), 1);
  SmallVector<int64_t> one(shapeOf(x)), rest(shapeOf(x)), zero(rank, 0), strides(rank, 1);
  one[0] = 1;
  rest[0] = size - 1;
  auto type = typeOf(x);
  Value ones = splat(builder, loc, RankedTensorType::get(one, type.getElementType()), 1);
  auto before = [&](Value x) -> Value {
    Value products = CumulateOp::create(builder, loc, SliceOp::create(builder, loc, x, zero, rest, strides),
                                        ReduceKind::prod, 0);
    return ConcatOp::create(builder, loc, ValueRange{ones, products}, 0);
  };
  Value after = reversed(builder, loc, before(reversed(builder, loc, x, 0)), 0);
  return MulOp::create(builder, loc, before(x), after);
}

/// The partial derivatives of a product over `dims`.
static Value productFactor(OpBuilder &builder, Location loc, Value x, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> perm(dims), kept = otherDims(typeOf(x).getRank(), dims), flat{1};
  llvm::append_range(perm, kept);
  Value front = TransposeOp::create(builder, loc, x, perm);
  for (int64_t d : dims)
    flat[0] *= shapeOf(x)[d];
  for (int64_t d : kept)
    flat.push_back(shapeOf(x)[d]);
  Value factor = productOfOthers(builder, loc, ReshapeOp::create(builder, loc, front, flat));
  factor = ReshapeOp::create(builder, loc, factor, shapeOf(front));
  SmallVector<int64_t> inverse(perm.size());
  for (auto [i, d] : llvm::enumerate(perm))
    inverse[d] = int64_t(i);
  return TransposeOp::create(builder, loc, factor, inverse);
}

/// For max and min: where x is the chosen value, and one over how many are (ties share the slope).
static std::pair<Ex, Ex> shareOfTies(OpBuilder &builder, ReduceOp op, SmallVector<int64_t> kept) {
  Ex x{&builder, op.getLoc(), op.getInput()};
  Ex chosen = compare(CompareKind::eq, x,
                      x.with(broadcastTo(builder, op.getLoc(), op.getResult(), shapeOf(op.getInput()), kept)));
  Ex ones = x.with(CastOp::create(builder, op.getLoc(), chosen.value, typeOf(op.getInput()).getElementType()));
  Ex count = x.with(ReduceOp::create(builder, op.getLoc(), ones.value, ReduceKind::sum, op.getDims()));
  // Nothing equals a nan; its count is taken as one.
  Ex share = 1 / select(compare(CompareKind::eq, count, 0), 1, count);
  return {chosen, share};
}

LogicalResult ReduceOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &,
                                 SmallVectorImpl<Value> &results) {
  SmallVector<int64_t> kept = otherDims(typeOf(getInput()).getRank(), getDims());
  Ex g{&builder, getLoc(), cotangents[0]};
  auto spread = [&](Ex value) {
    return g.with(broadcastTo(builder, getLoc(), value.value, shapeOf(getInput()), kept));
  };
  if (getKind() == ReduceKind::sum) {
    results.push_back(spread(g));
  } else if (getKind() == ReduceKind::prod) {
    results.push_back(spread(g) * g.with(productFactor(builder, getLoc(), getInput(), getDims())));
  } else {
    auto [chosen, share] = shareOfTies(builder, *this, kept);
    results.push_back(select(chosen, spread(g * share), 0));
  }
  return success();
}

LogicalResult ReduceOp::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents, SmallVectorImpl<Value> &results) {
  Ex t{&builder, getLoc(), tangents[0]};
  auto sum = [&](Ex value) {
    return t.with(ReduceOp::create(builder, getLoc(), value.value, ReduceKind::sum, getDims()));
  };
  if (getKind() == ReduceKind::sum) {
    results.push_back(sum(t));
  } else if (getKind() == ReduceKind::prod) {
    results.push_back(sum(t * t.with(productFactor(builder, getLoc(), getInput(), getDims()))));
  } else {
    auto [chosen, share] = shareOfTies(builder, *this, otherDims(typeOf(getInput()).getRank(), getDims()));
    results.push_back(sum(select(chosen, t, 0)) * share);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// contract
//===----------------------------------------------------------------------===//

/// The cotangent of the operand of `letters` (its type: `type`): g contracted with the other operand, spread over
/// letters that only this operand has.
static Value contractCotangent(OpBuilder &builder, Location loc, Value g, StringRef out, Value other,
                               StringRef otherLetters, RankedTensorType type, StringRef letters) {
  std::string present;
  SmallVector<int64_t> dims;
  for (auto [d, letter] : llvm::enumerate(letters))
    if (out.contains(letter) || otherLetters.contains(letter)) {
      present += letter;
      dims.push_back(int64_t(d));
    }
  Value product = ContractOp::create(builder, loc, g, other, out, otherLetters, present);
  return broadcastTo(builder, loc, product, type.getShape(), dims);
}

LogicalResult ContractOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &request,
                                   SmallVectorImpl<Value> &results) {
  results.resize(2);
  if (request.needed[0])
    results[0] = contractCotangent(builder, getLoc(), cotangents[0], getOut(), getB(), getRhs(), typeOf(getA()),
                                   getLhs());
  if (request.needed[1])
    results[1] = contractCotangent(builder, getLoc(), cotangents[0], getOut(), getA(), getLhs(), typeOf(getB()),
                                   getRhs());
  return success();
}

LogicalResult ContractOp::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents, SmallVectorImpl<Value> &results) {
  auto product = [&](Value a, Value b) -> Value {
    return ContractOp::create(builder, getLoc(), a, b, getLhs(), getRhs(), getOut());
  };
  Value left = tangents[0] ? product(tangents[0], getB()) : Value();
  Value right = tangents[1] ? product(getA(), tangents[1]) : Value();
  results.push_back(left && right ? Value(AddOp::create(builder, getLoc(), left, right)) : left ? left : right);
  return success();
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

/// The partial derivatives of each segment's product, segment by segment.
static Value segmentProductFactor(OpBuilder &builder, Location loc, Value x, ArrayRef<int64_t> offsets) {
  SmallVector<Value> parts;
  for (size_t s = 0; s + 1 < offsets.size(); ++s) {
    int64_t size = offsets[s + 1] - offsets[s];
    if (size > 0)
      parts.push_back(productOfOthers(builder, loc,
                                      SliceOp::create(builder, loc, x, offsets.slice(s, 1), ArrayRef<int64_t>{size},
                                                      ArrayRef<int64_t>{1})));
  }
  if (parts.empty())
    return splat(builder, loc, typeOf(x), 1);
  return ConcatOp::create(builder, loc, parts, 0);
}

/// As shareOfTies above, for segments: the weight of each element.
static Ex segmentShare(OpBuilder &builder, SegmentReduceOp op) {
  Ex x{&builder, op.getLoc(), op.getInput()};
  auto spread = [&](Ex value) {
    return x.with(SegmentSpreadOp::create(builder, op.getLoc(), value.value, op.getOffsets()));
  };
  Ex ones = select(compare(CompareKind::eq, x, spread(x.with(op.getResult()))), x.like(1), x.like(0));
  Ex count = x.with(SegmentReduceOp::create(builder, op.getLoc(), ones.value, ReduceKind::sum, op.getOffsets()));
  return ones / spread(select(compare(CompareKind::eq, count, 0), 1, count));
}

/// The factor of each element of a segmented product, maximum or minimum.
static Ex segmentFactor(OpBuilder &builder, SegmentReduceOp op) {
  if (op.getKind() == ReduceKind::prod)
    return {&builder, op.getLoc(), segmentProductFactor(builder, op.getLoc(), op.getInput(), op.getOffsets())};
  return segmentShare(builder, op);
}

LogicalResult SegmentReduceOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &,
                                        SmallVectorImpl<Value> &results) {
  Ex g{&builder, getLoc(), SegmentSpreadOp::create(builder, getLoc(), cotangents[0], getOffsets())};
  results.push_back(getKind() == ReduceKind::sum ? g : g * segmentFactor(builder, *this));
  return success();
}

LogicalResult SegmentReduceOp::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents,
                                        SmallVectorImpl<Value> &results) {
  Ex t{&builder, getLoc(), tangents[0]};
  Value weighted = getKind() == ReduceKind::sum ? t : t * segmentFactor(builder, *this);
  results.push_back(SegmentReduceOp::create(builder, getLoc(), weighted, ReduceKind::sum, getOffsets()));
  return success();
}

LogicalResult SegmentSpreadOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &,
                                        SmallVectorImpl<Value> &results) {
  results.push_back(SegmentReduceOp::create(builder, getLoc(), cotangents[0], ReduceKind::sum, getOffsets()));
  return success();
}

LogicalResult SegmentSpreadOp::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents,
                                        SmallVectorImpl<Value> &results) {
  results.push_back(SegmentSpreadOp::create(builder, getLoc(), tangents[0], getOffsets()));
  return success();
}

//===----------------------------------------------------------------------===//
// cumulate
//===----------------------------------------------------------------------===//

namespace {
/// A running product or maximum with its dimension in front: x, the results y before each place, and where x is a
/// new maximum.
struct Lines {
  OpBuilder &builder;
  CumulateOp op;
  Location loc = op.getLoc();
  int64_t dim = op.getDim();
  Value x = dimToFront(builder, loc, op.getInput(), dim);
  bool product = op.getKind() == ReduceKind::prod;

  int64_t size() { return shapeOf(x)[0]; }

  /// y shifted by one place; at the first, the neutral element.
  Value before() {
    Value y = dimToFront(builder, loc, op.getResult(), dim);
    SmallVector<int64_t> shape(shapeOf(y)), zero(shape.size(), 0), strides(shape.size(), 1);
    shape[0] = 1;
    auto first = RankedTensorType::get(shape, typeOf(y).getElementType());
    Value neutral = splat(builder, loc, first, product ? 1 : -std::numeric_limits<double>::infinity());
    if (size() <= 1)
      return neutral;
    shape[0] = size() - 1;
    return ConcatOp::create(builder, loc,
                            ValueRange{neutral, SliceOp::create(builder, loc, y, zero, shape, strides)}, 0);
  }

  /// i1: x exceeds all before it. Ties stay with the first.
  Value rises() { return CompareOp::create(builder, loc, CompareKind::gt, x, before()); }

  Value zeroRow() {
    return splat(builder, loc, RankedTensorType::get(shapeOf(x).drop_front(), typeOf(x).getElementType()), 0);
  }
};
} // namespace

// sum: dx is the sum from the end. prod: with P_k the product before k and S_k = g_k + x_(k+1) S_(k+1), dx = P S.
// max: S_k = g_k + (what later places pass back); a new maximum takes S_k, other places pass it on.
LogicalResult CumulateOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &,
                                   SmallVectorImpl<Value> &results) {
  Location loc = getLoc();
  int64_t dim = getDim();
  if (getKind() == ReduceKind::sum) {
    Value back = CumulateOp::create(builder, loc, reversed(builder, loc, cotangents[0], dim), ReduceKind::sum, dim);
    results.push_back(reversed(builder, loc, back, dim));
    return success();
  }
  Lines lines{builder, *this};
  if (lines.size() == 0) {
    results.push_back(cotangents[0]);
    return success();
  }
  Value g = dimToFront(builder, loc, cotangents[0], dim);
  Value weight = lines.product ? lines.x : lines.rises();
  auto scan = ScanOp::create(
      builder, loc, ValueRange{lines.zeroRow()}, ValueRange{g, weight}, lines.size(), /*reverse=*/true,
      [&](OpBuilder &b, Location loc, Value, ValueRange carries, ValueRange rows) -> SmallVector<Value> {
        Ex passed{&b, loc, carries[0]}, s = passed.with(rows[0]) + passed, w = s.with(rows[1]);
        if (lines.product)
          return {w * s, s};
        return {select(w, 0, s), select(w, s, 0)};
      });
  Value result = scan.getResult(1);
  if (lines.product)
    result = MulOp::create(builder, loc, lines.before(), result);
  results.push_back(dimFromFront(builder, loc, result, dim));
  return success();
}

// prod: t'_k = x_k t'_(k-1) + P_k t_k. max: t'_k = t_k at a new maximum, else t'_(k-1).
LogicalResult CumulateOp::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents, SmallVectorImpl<Value> &results) {
  Location loc = getLoc();
  if (getKind() == ReduceKind::sum) {
    results.push_back(CumulateOp::create(builder, loc, tangents[0], ReduceKind::sum, getDim()));
    return success();
  }
  Lines lines{builder, *this};
  if (lines.size() == 0) {
    results.push_back(tangents[0]);
    return success();
  }
  Value t = dimToFront(builder, loc, tangents[0], getDim());
  Value weight = lines.product ? lines.x : lines.rises();
  if (lines.product)
    t = MulOp::create(builder, loc, t, lines.before());
  auto scan = ScanOp::create(
      builder, loc, ValueRange{lines.zeroRow()}, ValueRange{t, weight}, lines.size(), /*reverse=*/false,
      [&](OpBuilder &b, Location loc, Value, ValueRange carries, ValueRange rows) -> SmallVector<Value> {
        Ex last{&b, loc, carries[0]}, own = last.with(rows[0]), w = last.with(rows[1]);
        Value next = lines.product ? w * last + own : select(w, own, last);
        return {next, next};
      });
  results.push_back(dimFromFront(builder, loc, scan.getResult(1), getDim()));
  return success();
}
