// Folds and canonical forms, each with its equation. Constants fold through the plain evaluator.
#include "dialects/Nd/NdEval.h"
#include "dialects/Nd/NdExpression.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FoldInterfaces.h"

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Larger results are left to run time: they would only fill the program.
static constexpr int64_t maxFolded = 64;

/// The number that every element of an attribute is; none when they differ or it is no constant.
static std::optional<double> splatNumber(Attribute attribute) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(attribute);
  if (!dense || !dense.isSplat() || dense.getElementType().isInteger(1))
    return std::nullopt;
  if (isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<APFloat>().convertToDouble();
  return double(dense.getSplatValue<APInt>().getSExtValue());
}
static bool isSplat(Attribute attribute, double number) { return splatNumber(attribute) == number; }
static bool isSplat(Value value, double number) {
  Attribute attribute;
  return matchPattern(value, m_Constant(&attribute)) && isSplat(attribute, number);
}

/// The one element of a splat, as a scalar constant.
static FailureOr<NdArray> scalarOf(Attribute attribute) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(attribute);
  if (!dense || !dense.isSplat())
    return failure();
  return NdArray::fromAttribute(dense.resizeSplat(RankedTensorType::get({}, dense.getElementType())));
}

/// f(splat, splat) = splat: for elementwise ops of any size.
static FailureOr<Attribute> foldSplats(Operation *op, ArrayRef<Attribute> operands) {
  NdArrays values;
  for (Attribute operand : operands) {
    FailureOr<NdArray> value = scalarOf(operand);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  FailureOr<NdArrays> results = evalOp(op, values);
  if (failed(results))
    return failure();
  auto type = typeOf(op->getResult(0));
  auto one = (*results)[0].toAttribute(RankedTensorType::get({}, type.getElementType()));
  return Attribute(one.resizeSplat(type));
}

/// Moving the elements of a splat about gives a splat.
static FailureOr<Attribute> moveSplat(Operation *op, Attribute operand) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(operand);
  if (!dense || !dense.isSplat() || !isa<BroadcastOp, ReshapeOp, TransposeOp, SliceOp>(op))
    return failure();
  return Attribute(dense.resizeSplat(typeOf(op->getResult(0))));
}

namespace {
/// Folds any op of the dialect whose operands are constants and whose result is a splat or small.
struct NdFolder : public DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;

  LogicalResult fold(Operation *op, ArrayRef<Attribute> operands,
                     SmallVectorImpl<OpFoldResult> &results) const override {
    if (op->getNumRegions() || op->getNumResults() != 1 || operands.empty() || isa<StopGradientOp>(op))
      return failure();
    FailureOr<Attribute> splat = op->hasTrait<Elementwise>() ? foldSplats(op, operands) : moveSplat(op, operands[0]);
    if (succeeded(splat)) {
      results.push_back(*splat);
      return success();
    }
    auto type = typeOf(op->getResult(0));
    if (type.getNumElements() > maxFolded)
      return failure();
    NdArrays values;
    for (Attribute operand : operands) {
      auto dense = dyn_cast_or_null<DenseElementsAttr>(operand);
      if (!dense || dense.getNumElements() > maxFolded)
        return failure();
      values.push_back(*NdArray::fromAttribute(dense));
    }
    FailureOr<NdArrays> folded = evalOp(op, values);
    if (failed(folded))
      return failure();
    results.push_back((*folded)[0].toAttribute(type));
    return success();
  }
};
} // namespace

namespace dyn::nd {
/// Called by the dialect's initialize.
void addFolder(NdDialect &dialect);
} // namespace dyn::nd
void nd::addFolder(NdDialect &dialect) { dialect.addInterfaces<NdFolder>(); }

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

/// The value in place of the op, if it has the op's type (hidden axes included).
static OpFoldResult inPlaceOf(Operation *op, Value value) {
  return value.getType() == op->getResult(0).getType() ? OpFoldResult(value) : OpFoldResult();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

// x + 0 = x (the sign of a zero is not kept)
OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  return isSplat(adaptor.getY(), 0) ? inPlaceOf(*this, getX()) : OpFoldResult();
}
// x - 0 = x
OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  return isSplat(adaptor.getY(), 0) ? inPlaceOf(*this, getX()) : OpFoldResult();
}
// x * 1 = x. Not x * 0 = 0: x may be nan or infinite. For whole numbers it holds.
OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getY(), 0) && typeOf(getResult()).getElementType().isInteger(64))
    return inPlaceOf(*this, getY());
  return isSplat(adaptor.getY(), 1) ? inPlaceOf(*this, getX()) : OpFoldResult();
}
// x / 1 = x
OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  return isSplat(adaptor.getY(), 1) ? inPlaceOf(*this, getX()) : OpFoldResult();
}
// x^1 = x
OpFoldResult PowOp::fold(FoldAdaptor adaptor) {
  return isSplat(adaptor.getY(), 1) ? inPlaceOf(*this, getX()) : OpFoldResult();
}
// -(-x) = x
OpFoldResult NegOp::fold(FoldAdaptor) {
  auto inner = getX().getDefiningOp<NegOp>();
  return inner ? inPlaceOf(*this, inner.getX()) : OpFoldResult();
}
// not not x = x
OpFoldResult NotOp::fold(FoldAdaptor) {
  auto inner = getX().getDefiningOp<NotOp>();
  return inner ? inPlaceOf(*this, inner.getX()) : OpFoldResult();
}
// min(x, x) = max(x, x) = x; x and x = x or x = x
OpFoldResult MinOp::fold(FoldAdaptor) { return getX() == getY() ? inPlaceOf(*this, getX()) : OpFoldResult(); }
OpFoldResult MaxOp::fold(FoldAdaptor) { return getX() == getY() ? inPlaceOf(*this, getX()) : OpFoldResult(); }

/// The one truth value of a constant.
static std::optional<bool> splatTruth(Attribute attribute) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(attribute);
  if (!dense || !dense.isSplat() || !dense.getElementType().isInteger(1))
    return std::nullopt;
  return dense.getSplatValue<bool>();
}

// x and true = x; x and false = false
OpFoldResult AndOp::fold(FoldAdaptor adaptor) {
  std::optional<bool> y = splatTruth(adaptor.getY());
  if (getX() == getY() || y == true)
    return inPlaceOf(*this, getX());
  return y == false ? inPlaceOf(*this, getY()) : OpFoldResult();
}
// x or false = x; x or true = true
OpFoldResult OrOp::fold(FoldAdaptor adaptor) {
  std::optional<bool> y = splatTruth(adaptor.getY());
  if (getX() == getY() || y == false)
    return inPlaceOf(*this, getX());
  return y == true ? inPlaceOf(*this, getY()) : OpFoldResult();
}
// select(true, a, b) = a; select(false, a, b) = b; select(c, a, a) = a
OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getA() == getB())
    return inPlaceOf(*this, getA());
  std::optional<bool> condition = splatTruth(adaptor.getCondition());
  return condition ? inPlaceOf(*this, *condition ? getA() : getB()) : OpFoldResult();
}
// cast to the same type
OpFoldResult CastOp::fold(FoldAdaptor) { return inPlaceOf(*this, getX()); }
// broadcast without new dimensions
OpFoldResult BroadcastOp::fold(FoldAdaptor) { return inPlaceOf(*this, getInput()); }

// reshape to the same shape; reshape(reshape(x)) = reshape(x)
OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (OpFoldResult same = inPlaceOf(*this, getInput()))
    return same;
  auto inner = getInput().getDefiningOp<ReshapeOp>();
  if (!inner)
    return {};
  setOperand(inner.getInput());
  return getResult();
}

// transpose by the identity; transpose(transpose(x, p), q) = transpose(x, p[q])
OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (llvm::equal(getPerm(), range(0, typeOf(getInput()).getRank())))
    return getInput();
  auto inner = getInput().getDefiningOp<TransposeOp>();
  if (!inner)
    return {};
  SmallVector<int64_t> perm;
  for (int64_t d : getPerm())
    perm.push_back(inner.getPerm()[d]);
  setPerm(perm);
  setOperand(inner.getInput());
  return getResult();
}

// slice of everything; slice(slice(x)) is one slice; a slice within one piece of a concat is one of the piece
OpFoldResult SliceOp::fold(FoldAdaptor) {
  if (OpFoldResult same = inPlaceOf(*this, getInput()))
    return same;
  SmallVector<int64_t> offsets(getOffsets());
  if (auto inner = getInput().getDefiningOp<SliceOp>()) {
    SmallVector<int64_t> strides(getStrides());
    for (auto [d, offset] : llvm::enumerate(offsets)) {
      offset = inner.getOffsets()[d] + inner.getStrides()[d] * offset;
      strides[d] *= inner.getStrides()[d];
    }
    setOffsets(offsets);
    setStrides(strides);
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  auto concat = getInput().getDefiningOp<ConcatOp>();
  if (!concat)
    return {};
  int64_t &at = offsets[concat.getDim()];
  int64_t size = getSizes()[concat.getDim()], last = at + std::max<int64_t>(size - 1, 0) * getStrides()[concat.getDim()];
  for (Value piece : concat.getInputs()) {
    RankedTensorType type = typeOf(piece);
    int64_t extent = type.getDimSize(concat.getDim());
    if (at >= 0 && last < extent && type.getEncoding() == typeOf(concat).getEncoding()) {
      setOffsets(offsets);
      getInputMutable().assign(piece);
      return getResult();
    }
    at -= extent;
    last -= extent;
  }
  return {};
}
// pad by nothing
OpFoldResult PadOp::fold(FoldAdaptor) { return inPlaceOf(*this, getInput()); }

/// What `inputs` are one slice after the other of along `dim`, all of it; null if they are not.
static Value wholeOf(OperandRange inputs, int64_t dim) {
  int64_t next = 0;
  Value whole;
  for (Value input : inputs) {
    auto slice = input.getDefiningOp<SliceOp>();
    if (!slice || (whole && slice.getInput() != whole))
      return {};
    whole = slice.getInput();
    for (auto [d, extent] : llvm::enumerate(shapeOf(whole))) {
      bool along = int64_t(d) == dim;
      if (slice.getStrides()[d] != 1 || slice.getOffsets()[d] != (along ? next : 0) ||
          (!along && slice.getSizes()[d] != extent))
        return {};
    }
    next += slice.getSizes()[dim];
  }
  return next == shapeOf(whole)[dim] ? whole : Value();
}

// concat of one; concat of all pieces of x is x
OpFoldResult ConcatOp::fold(FoldAdaptor) {
  if (getInputs().size() == 1)
    return inPlaceOf(*this, getInputs()[0]);
  Value whole = wholeOf(getInputs(), getDim());
  return whole && whole.getType() == getType() ? whole : Value();
}
// reduce over no dimension
OpFoldResult ReduceOp::fold(FoldAdaptor) { return getDims().empty() ? inPlaceOf(*this, getInput()) : OpFoldResult(); }

//===----------------------------------------------------------------------===//
// Canonical forms
//===----------------------------------------------------------------------===//

// x + (-y) = x - y
static LogicalResult addOfNegation(AddOp op, PatternRewriter &rewriter) {
  auto negation = op.getY().getDefiningOp<NegOp>();
  if (!negation)
    return rewriter.notifyMatchFailure(op, "no operand is negated");
  rewriter.replaceOpWithNewOp<SubOp>(op, op.getX(), negation.getX());
  return success();
}
void AddOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) { patterns.add(addOfNegation); }

// x^2 = x x; x^(1/2) = sqrt x (-inf aside); x^-1 = 1 / x
static LogicalResult simplePower(PowOp op, PatternRewriter &rewriter) {
  if (op.getX().getType() != op.getType())
    return rewriter.notifyMatchFailure(op, "hidden axes differ");
  if (isSplat(op.getY(), 2))
    rewriter.replaceOpWithNewOp<MulOp>(op, op.getX(), op.getX());
  else if (isSplat(op.getY(), 0.5))
    rewriter.replaceOpWithNewOp<SqrtOp>(op, op.getX());
  else if (isSplat(op.getY(), -1))
    rewriter.replaceOpWithNewOp<DivOp>(op, splatLike(rewriter, op.getX(), 1), op.getX());
  else
    return rewriter.notifyMatchFailure(op, "no simple exponent");
  return success();
}
void PowOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) { patterns.add(simplePower); }

// broadcast(broadcast(x, p), q) = broadcast(x, q[p])
static LogicalResult broadcastOfBroadcast(BroadcastOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<BroadcastOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(op, "operand is no broadcast");
  SmallVector<int64_t> dims;
  for (int64_t d : inner.getDims())
    dims.push_back(op.getDims()[d]);
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getInput(), dims);
  return success();
}
void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(broadcastOfBroadcast);
}

/// What a contraction's operand is without the transposes and broadcasts in front of it. A broadcast dimension goes
/// when the other operand has its letter: sum_j x_i y_j = sum_j (broadcast x)_ij y_j.
static bool lookThrough(Value &operand, std::string &letters, StringRef other) {
  if (auto transpose = operand.getDefiningOp<TransposeOp>()) {
    std::string before(letters.size(), ' ');
    for (auto [i, d] : llvm::enumerate(transpose.getPerm()))
      before[d] = letters[i];
    letters = before;
    operand = transpose.getInput();
    return true;
  }
  auto broadcast = operand.getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return false;
  std::string kept;
  for (auto [d, letter] : llvm::enumerate(letters)) {
    if (llvm::is_contained(broadcast.getDims(), int64_t(d)))
      kept += letter;
    else if (!other.contains(letter))
      return false;
  }
  letters = kept;
  operand = broadcast.getInput();
  return true;
}

static LogicalResult simplerOperands(ContractOp op, PatternRewriter &rewriter) {
  Value a = op.getA(), b = op.getB();
  std::string lhs = op.getLhs().str(), rhs = op.getRhs().str();
  bool changed = lookThrough(a, lhs, rhs);
  changed |= lookThrough(b, rhs, lhs);
  if (!changed)
    return rewriter.notifyMatchFailure(op, "operands are neither transposed nor broadcast");
  rewriter.replaceOpWithNewOp<ContractOp>(op, op.getType(), a, b, lhs, rhs, op.getOut());
  return success();
}
void ContractOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(simplerOperands);
}

// cond(true, a, b) = a; cond(false, a, b) = b
static LogicalResult knownCondition(CondOp op, PatternRewriter &rewriter) {
  Attribute value;
  std::optional<bool> condition;
  if (matchPattern(op.getCondition(), m_Constant(&value)))
    condition = splatTruth(value);
  if (!condition)
    return rewriter.notifyMatchFailure(op, "condition is not constant");
  Block &side = (*condition ? op.getThenRegion() : op.getElseRegion()).front();
  Operation *yield = side.getTerminator();
  SmallVector<Value> values(yield->getOperands());
  rewriter.inlineBlockBefore(&side, op);
  rewriter.replaceOp(op, values);
  rewriter.eraseOp(yield);
  return success();
}
void CondOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) { patterns.add(knownCondition); }
