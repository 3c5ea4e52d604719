//===- MultiplyByReciprocals.cpp - arrays divided by one number -----------===//
//
// A division takes a processor five times as long as a product, and a step of
// Adam divides each element by the norm of the gradient and by the corrections
// of two means. In f32 an array over a number s that is known at run time
// becomes two products, x (1/(s c)) c, of which the numbers are made once. The
// power of two c brings s c to where neither it nor its reciprocal overflows,
// so that what is not finite, zeros and their signs stay what they are; the
// result is within 1.5 units in the last place, a division's is within 0.5.
// f64 is what checks are made in, and keeps its division.
//
//===----------------------------------------------------------------------===//
#include "passes/fuse/Passes.h"

#include "dialects/Nd/NdExpression.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>

namespace dyn::fuse {
#define GEN_PASS_DEF_MULTIPLYBYRECIPROCALSPASS
#include "passes/fuse/Passes.h.inc"
} // namespace dyn::fuse

using namespace mlir;

namespace dyn::fuse {
namespace {

/// Fewer elements do not pay for the numbers.
constexpr int64_t leastElements = 32;
/// Sizes of a divisor between 2^-64 and 2^64 need no power of two.
constexpr int usualExponent = 64;

/// The number that fills an array; null if it is none, or known already.
Value spreadNumber(Value array) {
  auto spread = array.getDefiningOp<nd::BroadcastOp>();
  bool isNumber = spread && nd::typeOf(spread.getInput()).getRank() == 0;
  return isNumber && !matchPattern(spread.getInput(), m_Constant()) ? spread.getInput() : Value();
}

struct DivideByNumber : OpRewritePattern<nd::DivOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nd::DivOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = nd::typeOf(op.getResult());
    Value divisor = spreadNumber(op.getY());
    if (!divisor || !type.getElementType().isF32() || type.getNumElements() < leastElements)
      return failure();
    nd::Ex s{&rewriter, op.getLoc(), divisor}, x = s.with(op.getX());
    double large = std::ldexp(1.0, usualExponent), small = std::ldexp(1.0, -usualExponent);
    nd::Ex size = s.with(nd::AbsOp::create(rewriter, op.getLoc(), divisor));
    nd::Ex c = select(compare(nd::CompareKind::gt, size, large), small,
                      select(compare(nd::CompareKind::lt, size, small), large, s.like(1)));
    auto spread = [&](nd::Ex number) {
      return x.with(nd::BroadcastOp::create(rewriter, op.getLoc(), number.value, type.getShape(), ArrayRef<int64_t>()));
    };
    rewriter.replaceOp(op, (x * spread(1 / (s * c)) * spread(c)).value);
    return success();
  }
};

struct MultiplyByReciprocals : impl::MultiplyByReciprocalsPassBase<MultiplyByReciprocals> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DivideByNumber>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace dyn::fuse
