#include "dialects/Nd/NdDerivativesInternals.h"

#include "dialects/Nd/NdExpression.h"

#include <optional>

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

namespace {
/// A partial derivative: a value, or one of the numbers 1, -1 and "none".
struct Factor {
  enum class Kind { value, one, minusOne, none } kind;
  std::optional<Ex> value;
  Factor(Kind kind) : kind(kind) {}
  Factor(Ex value) : kind(Kind::value), value(value) {}
};
const Factor::Kind one = Factor::Kind::one;
const Factor::Kind minusOne = Factor::Kind::minusOne;
const Factor::Kind none = Factor::Kind::none;

/// y x^(y-1); 0 where y is 0 (a constant) and, as for sqrt, at x = 0 for 0 < y < 1.
Ex powFactorX(Ex x, Ex y) {
  Ex steep = logicalAnd(compare(CompareKind::eq, x, 0), compare(CompareKind::lt, y, 1));
  Ex flat = logicalOr(compare(CompareKind::eq, y, 0), logicalAnd(steep, compare(CompareKind::gt, y, 0)));
  return select(flat, 0, y * pow(x, y - 1));
}

/// x^y log x; 0 where x is 0.
Ex powFactorY(Ex x, Ex r) { return select(compare(CompareKind::eq, x, 0), 0, r * log(x)); }

/// 1 where x is the one chosen, 1/2 where both are equal.
Ex chosen(CompareKind kind, Ex x, Ex y) {
  Ex tie = select(compare(CompareKind::eq, x, y), x.like(0.5), x.like(0));
  return select(compare(kind, x, y), 1, tie);
}

/// A factor that is not finite becomes 0 where g is 0: 0 * inf would be nan. Elsewhere, and for finite factors, it
/// stays, so that derivatives of this derivative are right too.
Ex guarded(Ex g, Ex factor) {
  Ex finite = compare(CompareKind::eq, factor - factor, 0);
  return select(logicalOr(compare(CompareKind::ne, g, 0), finite), factor, 0);
}

/// g times the factor; null for none.
Value apply(Ex g, const Factor &factor, bool masked) {
  switch (factor.kind) {
  case Factor::Kind::one:
    return g;
  case Factor::Kind::minusOne:
    return -g;
  case Factor::Kind::none:
    return {};
  case Factor::Kind::value:
    return g * (masked ? guarded(g, *factor.value) : *factor.value);
  }
  llvm_unreachable("all kinds are handled");
}

/// Reverse rule from a function that gives the factor of operand i.
template <typename FactorOf>
void elementwiseVjp(OpBuilder &builder, Operation *op, Value cotangent, const VjpRequest &request,
                    SmallVectorImpl<Value> &results, FactorOf factorOf) {
  Ex g{&builder, op->getLoc(), cotangent};
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    results.push_back(request.needed[i] ? apply(g, factorOf(i), request.masked) : Value());
}

/// Forward rule: the sum of tangents times factors.
template <typename FactorOf>
void elementwiseJvp(OpBuilder &builder, Operation *op, ArrayRef<Value> tangents, SmallVectorImpl<Value> &results,
                    FactorOf factorOf) {
  Value sum;
  for (auto [i, tangent] : llvm::enumerate(tangents)) {
    Value part = tangent ? apply({&builder, op->getLoc(), tangent}, factorOf(i), /*masked=*/false) : Value();
    if (part)
      sum = sum ? Value(AddOp::create(builder, op->getLoc(), sum, part)) : part;
  }
  results.push_back(sum);
}
} // namespace

#define ROW(OP, SETUP, FACTORS)                                                                                        \
  static Factor factor##OP(OpBuilder &builder, OP op, unsigned operand) {                                              \
    [[maybe_unused]] Ex x{&builder, op.getLoc(), op->getOperand(0)}, r = x.with(op.getResult());                       \
    SETUP return FACTORS;                                                                                              \
  }                                                                                                                    \
  LogicalResult OP::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &request,                \
                             SmallVectorImpl<Value> &results) {                                                        \
    elementwiseVjp(builder, *this, cotangents[0], request, results,                                                    \
                   [&](unsigned i) { return factor##OP(builder, *this, i); });                                         \
    return success();                                                                                                  \
  }                                                                                                                    \
  LogicalResult OP::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents, SmallVectorImpl<Value> &results) {          \
    elementwiseJvp(builder, *this, tangents, results,                                                                  \
                   [&](unsigned i) { return factor##OP(builder, *this, i); });                                         \
    return success();                                                                                                  \
  }                                                                                                                    \
  StringRef OP::notDifferentiableReason() { return {}; }
#define UNARY(OP, FACTOR) ROW(OP, , Factor(FACTOR))
#define BINARY(OP, FX, FY)                                                                                             \
  ROW(OP, [[maybe_unused]] Ex y = x.with(op->getOperand(1));, operand == 0 ? Factor(FX) : Factor(FY))
#define FLAT(OP, REASON)                                                                                               \
  LogicalResult OP::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &results) {      \
    results.assign(getOperation()->getNumOperands(), Value());                                                         \
    return success();                                                                                                  \
  }                                                                                                                    \
  LogicalResult OP::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &results) {                          \
    results.push_back(Value());                                                                                        \
    return success();                                                                                                  \
  }                                                                                                                    \
  StringRef OP::notDifferentiableReason() { return REASON; }
#include "dialects/Nd/NdDerivatives.def"

//===----------------------------------------------------------------------===//
// Elementwise ops whose rule is not a factor
//===----------------------------------------------------------------------===//

// Choosing among cotangents, not multiplying them, keeps what the other side would be out of it.
LogicalResult SelectOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &request,
                                 SmallVectorImpl<Value> &results) {
  Ex g{&builder, getLoc(), cotangents[0]}, condition = g.with(getCondition());
  results.push_back(Value());
  results.push_back(request.needed[1] ? Value(select(condition, g, 0)) : Value());
  results.push_back(request.needed[2] ? Value(select(condition, 0, g)) : Value());
  return success();
}

LogicalResult SelectOp::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents, SmallVectorImpl<Value> &results) {
  Ex any{&builder, getLoc(), tangents[1] ? tangents[1] : tangents[2]}, condition = any.with(getCondition());
  Ex a = tangents[1] ? any.with(tangents[1]) : any.like(0), b = tangents[2] ? any.with(tangents[2]) : any.like(0);
  results.push_back(select(condition, a, b));
  return success();
}

StringRef SelectOp::notDifferentiableReason() { return {}; }

LogicalResult CastOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents, const VjpRequest &,
                               SmallVectorImpl<Value> &results) {
  results.push_back(CastOp::create(builder, getLoc(), cotangents[0], typeOf(getX()).getElementType()));
  return success();
}

LogicalResult CastOp::buildJvp(OpBuilder &builder, ArrayRef<Value> tangents, SmallVectorImpl<Value> &results) {
  results.push_back(CastOp::create(builder, getLoc(), tangents[0], typeOf(getResult()).getElementType()));
  return success();
}

StringRef CastOp::notDifferentiableReason() { return {}; }
