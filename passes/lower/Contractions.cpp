//===- Contractions.cpp - arithmetic that saves a rounding or a division --===//
//
// Two liberties that the emitter takes with the arithmetic of a body, both by
// the form of the body alone, so that a vector, a masked tail and every piece
// of a loop have the same bits:
//
// - A product that only a sum reads is added with one rounding, on machines
//   that have an instruction for it.
// - An array over a number of the run that is the same along its rows is
//   multiplied by the reciprocal: at most 1.5 ulp from the quotient, of which
//   the division itself has 0.5. Divisors that the spec writes as literals stay
//   divisors: x / 3 is 1 where x is 3.
//
// A flat loop is written a second time for the case that no reciprocal needs a
// scale, which is nearly always.
//
//===----------------------------------------------------------------------===//
#include "passes/lower/Elements.h"
#include "passes/lower/KernelEmitter.h"
#include "passes/lower/Passes.h"

using namespace mlir;

namespace dyn::lower {

/// The product that `value` is, if nothing else reads it.
static nd::MulOp soleProduct(Value value) {
  auto product = value.getDefiningOp<nd::MulOp>();
  return product && product->hasOneUse() && isa<FloatType>(elementOf(value)) ? product : nd::MulOp();
}

/// Which product is added without a rounding of its own: number 0 or 1 of the operands, or -1.
static int fusedOperand(Operation *op) {
  if (!isa<nd::AddOp, nd::SubOp>(op))
    return -1;
  nd::MulOp first = soleProduct(op->getOperand(0)), second = soleProduct(op->getOperand(1));
  if (isa<nd::AddOp>(op))
    return first ? 0 : second ? 1 : -1;
  // Differences of equal products and of equal squares stay 0, never a little less.
  if ((first && second) || (second && second.getX() == second.getY()))
    return -1;
  return first ? 0 : second ? 1 : -1;
}

Emitted KernelEmitter::emitMultiplyAdd(Operation *inner, const Index &index) {
  int which = fusedOperand(inner);
  if (which < 0)
    return {};
  nd::MulOp product = soleProduct(inner->getOperand(which));
  Emitted parts[] = {emit(product.getX(), index), emit(product.getY(), index),
                     emit(inner->getOperand(1 - which), index)};
  unsigned level = 0;
  bool vector = false;
  for (const Emitted &part : parts) {
    level = std::max(level, part.level);
    vector |= isa<VectorType>(part.value.getType());
  }
  auto values = llvm::map_to_vector(parts, [&](const Emitted &e) { return vector ? spreadHere(e) : e.value; });
  if (isa<nd::SubOp>(inner)) {
    Value &negative = which == 0 ? values[2] : values[0];
    negative = arith::NegFOp::create(at(level), loc, negative);
  }
  return {LLVM::FMulAddOp::create(at(level), loc, values[0], values[1], values[2]), level};
}

Value KernelEmitter::reduceElement(nd::ReduceOp reduce, const Index &index, bool vector, Value sum) {
  auto like = [&](Emitted e) { return vector ? spread(at(e.level), loc, e.value, lanes) : e.value; };
  nd::MulOp product = soleProduct(reduce.getInput());
  if (product && reduce.getKind() == nd::ReduceKind::sum) {
    Value x = like(emit(product.getX(), index)), y = like(emit(product.getY(), index));
    return LLVM::FMulAddOp::create(here(), loc, x, y, sum);
  }
  Value x = like(emit(reduce.getInput(), index));
  return reduceStep(here(), loc, reduce.getKind(), sum, x);
}

/// Whether `value` is the same along its last dimension.
static bool isSameAlongRow(Value value) {
  auto broadcast = value.getDefiningOp<nd::BroadcastOp>();
  return broadcast && !llvm::is_contained(broadcast.getDims(), int64_t(nd::shapeOf(value).size()) - 1);
}

/// x / d = (x scale) inverse. The scale is 1, but for a d near the ends of the exponents, whose reciprocal would be
/// infinite or lose digits; then it is a power of two that takes d to the middle.
KernelEmitter::Reciprocal KernelEmitter::reciprocalOf(Emitted divisor) {
  Reciprocal &known = reciprocals[divisor.value];
  if (known.inverse)
    return known;
  OpBuilder &builder = at(divisor.level);
  Type type = divisor.value.getType();
  auto number = [&](double x) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, x));
  };
  int far = type.isF32() ? 100 : 900, shift = type.isF32() ? 64 : 512;
  Value size = math::AbsFOp::create(builder, loc, divisor.value);
  auto beyond = [&](arith::CmpFPredicate predicate, int exponent) -> Value {
    return arith::CmpFOp::create(builder, loc, predicate, size, number(std::ldexp(1.0, exponent)));
  };
  Value large = arith::SelectOp::create(builder, loc, beyond(arith::CmpFPredicate::OGT, far),
                                        number(std::ldexp(1.0, -shift)), number(1));
  known.scale = arith::SelectOp::create(builder, loc, beyond(arith::CmpFPredicate::OLT, -far),
                                        number(std::ldexp(1.0, shift)), large);
  Value scaled = arith::MulFOp::create(builder, loc, divisor.value, known.scale);
  known.inverse = arith::DivFOp::create(builder, loc, number(1), scaled);
  return known;
}

Emitted KernelEmitter::emitQuotient(nd::DivOp div, const Index &index) {
  Value divisor = div.getY(), dividend = div.getX();
  bool constant = isa_and_nonnull<nd::ConstantOp>(dividend.getDefiningOp());
  if (!isSameAlongRow(divisor) || isSameAlongRow(dividend) || constant ||
      isa_and_nonnull<nd::ConstantOp>(divisor.getDefiningOp<nd::BroadcastOp>().getInput().getDefiningOp()))
    return {};
  Emitted d = emit(divisor, index);
  if (isa<VectorType>(d.value.getType()))
    return {};
  Emitted x = emit(dividend, index);
  Reciprocal by = reciprocalOf(d);
  unsigned level = std::max(x.level, d.level);
  bool vector = isa<VectorType>(x.value.getType());
  auto like = [&](Value v) { return vector ? spread(at(d.level), loc, v, lanes) : v; };
  Value scaled = x.value, scale = like(by.scale), inverse = like(by.inverse);
  // What belongs to the function serves both of its loops.
  if (!plain || d.level != 0 || level == 0)
    scaled = arith::MulFOp::create(at(level), loc, scaled, scale);
  return {arith::MulFOp::create(at(level), loc, scaled, inverse), level};
}

Value KernelEmitter::isPlain() {
  Value all;
  for (auto &[divisor, by] : reciprocals) {
    Value one = arith::ConstantOp::create(here(), loc, b.getFloatAttr(divisor.getType(), 1));
    Value is = arith::CmpFOp::create(here(), loc, arith::CmpFPredicate::OEQ, by.scale, one);
    all = all ? arith::AndIOp::create(here(), loc, all, is).getResult() : is;
  }
  return all;
}

/// Only a loop that reads divisors of the function is written twice. What a multiplication by 1 gives has the same bits.
void KernelEmitter::forPlainAndScaled(llvm::function_ref<void()> loop) {
  if (llvm::none_of(op.getBody().getOps<nd::DivOp>(), [](nd::DivOp div) { return isSameAlongRow(div.getY()); }))
    return loop();
  // The condition is known once the first loop has been written.
  Value unknown = boolConstant(here(), loc, true);
  auto branches = scf::IfOp::create(here(), loc, TypeRange(), unknown, /*withElseRegion=*/true);
  Operation *outer = levels.back().anchor;
  levels.back().anchor = branches;
  auto inRegion = [&](Region &region) {
    levels.push_back({&region.front(), nullptr, serials++, outer});
    loop();
    levels.pop_back();
  };
  plain = true;
  inRegion(branches.getThenRegion());
  plain = false;
  if (Value condition = isPlain()) {
    branches.getConditionMutable().assign(condition);
    inRegion(branches.getElseRegion());
  }
  levels.back().anchor = outer;
}

} // namespace dyn::lower
