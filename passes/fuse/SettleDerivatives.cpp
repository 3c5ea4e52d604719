//===- SettleDerivatives.cpp - what only derivatives needed goes ----------===//
//
// Once nothing is differentiated any more, an array op need only have the right
// value, not the right derivative. stop_gradient is its operand then, and the
// guard of a chain rule, which keeps a factor that is not finite out where its
// cotangent is 0 (dialects/Nd/NdDerivatives.cpp), has a form that reads the
// factor once and keeps no array of truth values.
//
//===----------------------------------------------------------------------===//
#include "passes/fuse/Passes.h"

#include "dialects/Nd/NdExpression.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace dyn::fuse {
#define GEN_PASS_DEF_SETTLEDERIVATIVESPASS
#include "passes/fuse/Passes.h.inc"
} // namespace dyn::fuse

using namespace mlir;

namespace dyn::fuse {
namespace {

bool isZero(Value value) {
  DenseFPElementsAttr dense;
  return matchPattern(value, m_Constant(&dense)) && dense.isSplat() && dense.getSplatValue<APFloat>().isZero();
}

bool comparesWithZero(Value condition, nd::CompareKind kind, Value value) {
  auto compare = condition.getDefiningOp<nd::CompareOp>();
  return compare && compare.getKind() == kind && compare.getX() == value && isZero(compare.getY());
}

/// factor - factor = 0: the factor is finite.
bool saysFinite(Value condition, Value factor) {
  auto compare = condition.getDefiningOp<nd::CompareOp>();
  auto difference = compare ? compare.getX().getDefiningOp<nd::SubOp>() : nd::SubOp();
  return difference && compare.getKind() == nd::CompareKind::eq && isZero(compare.getY()) &&
         difference.getX() == factor && difference.getY() == factor;
}

/// The factor of g (g ≠ 0 or the factor is finite ? factor : 0); null if `value` is not that.
Value guardedFactor(Value g, Value value) {
  auto select = value.getDefiningOp<nd::SelectOp>();
  auto either = select ? select.getCondition().getDefiningOp<nd::OrOp>() : nd::OrOp();
  if (!either || !isZero(select.getB()))
    return {};
  Value factor = select.getA();
  for (auto [x, y] : {std::pair(either.getX(), either.getY()), std::pair(either.getY(), either.getX())})
    if (comparesWithZero(x, nd::CompareKind::ne, g) && saysFinite(y, factor))
      return factor;
  return {};
}

/// g times its guarded factor = (g ≠ 0 ? g factor : 0), the sign of a zero apart.
struct CheapenGuard : OpRewritePattern<nd::MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nd::MulOp op, PatternRewriter &rewriter) const override {
    for (auto [g, other] : {std::pair(op.getX(), op.getY()), std::pair(op.getY(), op.getX())}) {
      Value factor = guardedFactor(g, other);
      if (!factor)
        continue;
      nd::Ex cotangent{&rewriter, op.getLoc(), g};
      rewriter.replaceOp(op, nd::select(nd::compare(nd::CompareKind::ne, cotangent, 0),
                                        cotangent * cotangent.with(factor), 0)
                                 .value);
      return success();
    }
    return failure();
  }
};

struct DropStop : OpRewritePattern<nd::StopGradientOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nd::StopGradientOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, op.getOperand());
    return success();
  }
};

struct SettleDerivatives : impl::SettleDerivativesPassBase<SettleDerivatives> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<CheapenGuard, DropStop>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace dyn::fuse
