//===- Elements.cpp - the arithmetic of one element -----------------------===//
#include "passes/lower/Elements.h"

#include "passes/cpu/VectorMath.h"
#include "passes/lower/Passes.h"

#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;

namespace dyn::lower {

Value i64Constant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
}
Value boolConstant(OpBuilder &b, Location loc, bool value) {
  return arith::ConstantOp::create(b, loc, b.getBoolAttr(value));
}

Type elementOf(Value tensor) { return nd::typeOf(tensor).getElementType(); }

Type laneType(Type type, int64_t lanes) { return lanes == 1 ? type : VectorType::get({lanes}, type); }

Value spread(OpBuilder &b, Location loc, Value value, int64_t lanes) {
  if (lanes == 1 || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, value.getType()), value);
}

namespace {

/// A number of the type of `like`, in each lane.
Value number(OpBuilder &b, Location loc, Type like, double real, int64_t whole) {
  Type element = getElementTypeOrSelf(like);
  TypedAttr attr =
      isa<FloatType>(element) ? TypedAttr(b.getFloatAttr(element, real)) : TypedAttr(b.getIntegerAttr(element, whole));
  if (auto vector = dyn_cast<VectorType>(like))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

bool isFloat(Value v) { return isa<FloatType>(getElementTypeOrSelf(v.getType())); }

template <typename FloatOp, typename IntOp> Value either(OpBuilder &b, Location loc, ValueRange v) {
  if (isFloat(v[0]))
    return FloatOp::create(b, loc, v[0].getType(), v);
  return IntOp::create(b, loc, v[0].getType(), v);
}

Value compareInt(OpBuilder &b, Location loc, arith::CmpIPredicate predicate, Value x, Value y) {
  return arith::CmpIOp::create(b, loc, predicate, x, y);
}
Value compareFloat(OpBuilder &b, Location loc, arith::CmpFPredicate predicate, Value x, Value y) {
  return arith::CmpFOp::create(b, loc, predicate, x, y);
}
Value select(OpBuilder &b, Location loc, Value c, Value x, Value y) { return arith::SelectOp::create(b, loc, c, x, y); }

Value emitCompare(OpBuilder &b, Location loc, nd::CompareKind kind, Value x, Value y) {
  if (isFloat(x)) {
    static constexpr arith::CmpFPredicate predicates[] = {arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE,
                                                          arith::CmpFPredicate::OLT, arith::CmpFPredicate::OLE,
                                                          arith::CmpFPredicate::OGT, arith::CmpFPredicate::OGE};
    return compareFloat(b, loc, predicates[unsigned(kind)], x, y);
  }
  bool isBool = getElementTypeOrSelf(x.getType()).isInteger(1);
  static constexpr arith::CmpIPredicate whole[] = {arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,
                                                   arith::CmpIPredicate::slt, arith::CmpIPredicate::sle,
                                                   arith::CmpIPredicate::sgt, arith::CmpIPredicate::sge};
  static constexpr arith::CmpIPredicate truth[] = {arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,
                                                   arith::CmpIPredicate::ult, arith::CmpIPredicate::ule,
                                                   arith::CmpIPredicate::ugt, arith::CmpIPredicate::uge};
  return compareInt(b, loc, isBool ? truth[unsigned(kind)] : whole[unsigned(kind)], x, y);
}

/// Truncated, saturating, nan to 0: the conversion itself only sees what it can represent.
Value floatToWhole(OpBuilder &b, Location loc, Value x, Type to) {
  Value low = number(b, loc, x.getType(), -0x1p63, 0), high = number(b, loc, x.getType(), 0x1p63, 0);
  Value above = compareFloat(b, loc, arith::CmpFPredicate::OGE, x, high);
  Value notBelow = compareFloat(b, loc, arith::CmpFPredicate::OGE, x, low);
  Value below = compareFloat(b, loc, arith::CmpFPredicate::OLT, x, low);
  Value inside = arith::AndIOp::create(b, loc, notBelow, compareFloat(b, loc, arith::CmpFPredicate::OLT, x, high));
  Value safe = select(b, loc, inside, x, number(b, loc, x.getType(), 0, 0));
  Value whole = arith::FPToSIOp::create(b, loc, to, safe);
  whole = select(b, loc, above, number(b, loc, to, 0, std::numeric_limits<int64_t>::max()), whole);
  return select(b, loc, below, number(b, loc, to, 0, std::numeric_limits<int64_t>::min()), whole);
}

Value emitCast(OpBuilder &b, Location loc, Value x, Type element) {
  Type from = getElementTypeOrSelf(x.getType());
  if (from == element)
    return x;
  Type to = isa<VectorType>(x.getType()) ? Type(cast<VectorType>(x.getType()).clone(element)) : element;
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(element);
  if (element.isInteger(1))
    return emitCompare(b, loc, nd::CompareKind::ne, x, number(b, loc, x.getType(), 0, 0));
  if (from.isInteger(1))
    return toFloat ? arith::UIToFPOp::create(b, loc, to, x).getResult() : arith::ExtUIOp::create(b, loc, to, x);
  if (fromFloat && toFloat)
    return element.isF64() ? arith::ExtFOp::create(b, loc, to, x).getResult() : arith::TruncFOp::create(b, loc, to, x);
  return fromFloat ? floatToWhole(b, loc, x, to) : Value(arith::SIToFPOp::create(b, loc, to, x));
}

Value emitSign(OpBuilder &b, Location loc, Value x) {
  Value zero = number(b, loc, x.getType(), 0, 0);
  Value positive = emitCompare(b, loc, nd::CompareKind::gt, x, zero);
  Value negative = emitCompare(b, loc, nd::CompareKind::lt, x, zero);
  Value minus = number(b, loc, x.getType(), -1, -1), plus = number(b, loc, x.getType(), 1, 1);
  return select(b, loc, positive, plus, select(b, loc, negative, minus, x));
}

/// floor(x / y); whole numbers by 0 give 0, and the division itself never sees 0 nor the one overflow.
Value emitFloordiv(OpBuilder &b, Location loc, Value x, Value y) {
  if (isFloat(x))
    return math::FloorOp::create(b, loc, arith::DivFOp::create(b, loc, x, y));
  Type type = x.getType();
  Value zero = number(b, loc, type, 0, 0), one = number(b, loc, type, 0, 1), minus = number(b, loc, type, 0, -1);
  Value byZero = compareInt(b, loc, arith::CmpIPredicate::eq, y, zero);
  Value byMinus = compareInt(b, loc, arith::CmpIPredicate::eq, y, minus);
  Value safe = select(b, loc, arith::OrIOp::create(b, loc, byZero, byMinus), one, y);
  Value quotient = arith::DivSIOp::create(b, loc, x, safe);
  Value rest = arith::SubIOp::create(b, loc, x, arith::MulIOp::create(b, loc, quotient, safe));
  Value inexact = compareInt(b, loc, arith::CmpIPredicate::ne, rest, zero);
  Value signs = compareInt(b, loc, arith::CmpIPredicate::slt, arith::XOrIOp::create(b, loc, rest, safe), zero);
  Value down = arith::AndIOp::create(b, loc, inexact, signs);
  quotient = select(b, loc, down, arith::SubIOp::create(b, loc, quotient, one), quotient);
  quotient = select(b, loc, byMinus, arith::SubIOp::create(b, loc, zero, x), quotient);
  return select(b, loc, byZero, zero, quotient);
}

/// x - floordiv(x, y) y for whole numbers; C's remainder brought to the sign of y for the others.
Value emitRem(OpBuilder &b, Location loc, Value x, Value y) {
  Value zero = number(b, loc, x.getType(), 0, 0);
  if (!isFloat(x)) {
    Value quotient = emitFloordiv(b, loc, x, y);
    Value rest = arith::SubIOp::create(b, loc, x, arith::MulIOp::create(b, loc, quotient, y));
    return select(b, loc, compareInt(b, loc, arith::CmpIPredicate::eq, y, zero), zero, rest);
  }
  Value rest = arith::RemFOp::create(b, loc, x, y);
  Value nonzero = compareFloat(b, loc, arith::CmpFPredicate::UNE, rest, zero);
  Value restNegative = compareFloat(b, loc, arith::CmpFPredicate::OLT, rest, zero);
  Value yNegative = compareFloat(b, loc, arith::CmpFPredicate::OLT, y, zero);
  Value differ = arith::XOrIOp::create(b, loc, restNegative, yNegative);
  Value fix = arith::AndIOp::create(b, loc, nonzero, differ);
  return select(b, loc, fix, arith::AddFOp::create(b, loc, rest, y), rest);
}

std::optional<MathFunction> mathFunctionOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<MathFunction>>(op)
      .Case([](nd::RsqrtOp) { return MathFunction::rsqrt; })
      .Case([](nd::ExpOp) { return MathFunction::exp; })
      .Case([](nd::Expm1Op) { return MathFunction::expm1; })
      .Case([](nd::LogOp) { return MathFunction::log; })
      .Case([](nd::Log1pOp) { return MathFunction::log1p; })
      .Case([](nd::SinOp) { return MathFunction::sin; })
      .Case([](nd::CosOp) { return MathFunction::cos; })
      .Case([](nd::TanhOp) { return MathFunction::tanh; })
      .Case([](nd::SigmoidOp) { return MathFunction::sigmoid; })
      .Case([](nd::ErfOp) { return MathFunction::erf; })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace

Value emitElement(OpBuilder &b, Operation *op, ValueRange v) {
  Location loc = op->getLoc();
  if (std::optional<MathFunction> function = mathFunctionOf(op))
    return emitMath(b, loc, *function, v[0]);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](nd::NegOp) -> Value {
        if (isFloat(v[0]))
          return arith::NegFOp::create(b, loc, v[0]);
        return arith::SubIOp::create(b, loc, number(b, loc, v[0].getType(), 0, 0), v[0]);
      })
      .Case([&](nd::AbsOp) -> Value {
        if (isFloat(v[0]))
          return math::AbsFOp::create(b, loc, v[0]);
        Value zero = number(b, loc, v[0].getType(), 0, 0);
        Value negative = compareInt(b, loc, arith::CmpIPredicate::slt, v[0], zero);
        return select(b, loc, negative, arith::SubIOp::create(b, loc, zero, v[0]), v[0]);
      })
      .Case([&](nd::SignOp) { return emitSign(b, loc, v[0]); })
      .Case([&](nd::SqrtOp) -> Value { return math::SqrtOp::create(b, loc, v[0]); })
      .Case([&](nd::FloorOp) -> Value { return math::FloorOp::create(b, loc, v[0]); })
      .Case([&](nd::CeilOp) -> Value { return math::CeilOp::create(b, loc, v[0]); })
      .Case([&](nd::RoundOp) -> Value { return math::RoundEvenOp::create(b, loc, v[0]); })
      .Case(
          [&](nd::NotOp) -> Value { return arith::XOrIOp::create(b, loc, v[0], number(b, loc, v[0].getType(), 0, 1)); })
      .Case([&](nd::StopGradientOp) -> Value { return v[0]; })
      .Case([&](nd::AddOp) { return either<arith::AddFOp, arith::AddIOp>(b, loc, v); })
      .Case([&](nd::SubOp) { return either<arith::SubFOp, arith::SubIOp>(b, loc, v); })
      .Case([&](nd::MulOp) { return either<arith::MulFOp, arith::MulIOp>(b, loc, v); })
      .Case([&](nd::DivOp) -> Value { return arith::DivFOp::create(b, loc, v[0], v[1]); })
      .Case([&](nd::PowOp) { return emitPow(b, loc, v[0], v[1]); })
      .Case([&](nd::MinOp) { return either<arith::MinimumFOp, arith::MinSIOp>(b, loc, v); })
      .Case([&](nd::MaxOp) { return either<arith::MaximumFOp, arith::MaxSIOp>(b, loc, v); })
      .Case([&](nd::RemOp) { return emitRem(b, loc, v[0], v[1]); })
      .Case([&](nd::FloordivOp) { return emitFloordiv(b, loc, v[0], v[1]); })
      .Case([&](nd::AndOp) -> Value { return arith::AndIOp::create(b, loc, v[0], v[1]); })
      .Case([&](nd::OrOp) -> Value { return arith::OrIOp::create(b, loc, v[0], v[1]); })
      .Case([&](nd::CompareOp compare) { return emitCompare(b, loc, compare.getKind(), v[0], v[1]); })
      .Case([&](nd::SelectOp) { return select(b, loc, v[0], v[1], v[2]); })
      .Case([&](nd::CastOp cast) { return emitCast(b, loc, v[0], elementOf(cast.getResult())); })
      .Default([](Operation *) { return Value(); });
}

Value emitSplat(OpBuilder &b, nd::ConstantOp op) {
  auto dense = cast<DenseElementsAttr>(op.getValue());
  return arith::ConstantOp::create(b, op.getLoc(), cast<TypedAttr>(*dense.getValues<Attribute>().begin()));
}

Value reduceIdentity(OpBuilder &b, Location loc, nd::ReduceKind kind, Type element) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (kind) {
  case nd::ReduceKind::sum:
  case nd::ReduceKind::any:
    return number(b, loc, element, 0, 0);
  case nd::ReduceKind::prod:
  case nd::ReduceKind::all:
    return number(b, loc, element, 1, 1);
  case nd::ReduceKind::max:
    return number(b, loc, element, -infinity, std::numeric_limits<int64_t>::min());
  case nd::ReduceKind::min:
    return number(b, loc, element, infinity, std::numeric_limits<int64_t>::max());
  }
  llvm_unreachable("every kind of the enumeration returns above");
}

Value reduceStep(OpBuilder &b, Location loc, nd::ReduceKind kind, Value x, Value y) {
  SmallVector<Value, 2> v{x, y};
  switch (kind) {
  case nd::ReduceKind::sum:
    return either<arith::AddFOp, arith::AddIOp>(b, loc, v);
  case nd::ReduceKind::prod:
    return either<arith::MulFOp, arith::MulIOp>(b, loc, v);
  case nd::ReduceKind::max:
    return either<arith::MaximumFOp, arith::MaxSIOp>(b, loc, v);
  case nd::ReduceKind::min:
    return either<arith::MinimumFOp, arith::MinSIOp>(b, loc, v);
  case nd::ReduceKind::any:
    return arith::OrIOp::create(b, loc, x, y);
  case nd::ReduceKind::all:
    return arith::AndIOp::create(b, loc, x, y);
  }
  llvm_unreachable("every kind of the enumeration returns above");
}

Value reduceLanes(OpBuilder &b, Location loc, nd::ReduceKind kind, Value vector) {
  auto type = dyn_cast<VectorType>(vector.getType());
  if (!type)
    return vector;
  int64_t lanes = type.getNumElements();
  while (lanes > 1) {
    lanes /= 2;
    SmallVector<int64_t> low = nd::range(0, lanes), high = nd::range(lanes, 2 * lanes);
    Value x = vector::ShuffleOp::create(b, loc, vector, vector, low);
    Value y = vector::ShuffleOp::create(b, loc, vector, vector, high);
    vector = reduceStep(b, loc, kind, x, y);
  }
  return vector::ExtractOp::create(b, loc, vector, ArrayRef<int64_t>{0});
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static Type storedType(OpBuilder &b, Type type) {
  if (!getElementTypeOrSelf(type).isInteger(1))
    return type;
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(b.getI8Type());
  return b.getI8Type();
}

static unsigned alignmentOf(Type type) {
  unsigned bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  return bits == 1 ? 1 : bits / 8;
}

Value elementPointer(OpBuilder &b, Location loc, Value base, Type element, Value index) {
  Type stored = storedType(b, element), pointer = LLVM::LLVMPointerType::get(b.getContext());
  return LLVM::GEPOp::create(b, loc, pointer, stored, base, ValueRange{index}, LLVM::GEPNoWrapFlags::inbounds);
}

/// Bytes are booleans: anything but 0 is true.
static Value fromStored(OpBuilder &b, Location loc, Value loaded, Type type) {
  if (loaded.getType() == type)
    return loaded;
  return compareInt(b, loc, arith::CmpIPredicate::ne, loaded, number(b, loc, loaded.getType(), 0, 0));
}

/// How many lanes, from the first on, a constant mask lets through; 0: not such a mask.
static int64_t prefixOf(Value mask) {
  DenseElementsAttr bits;
  if (!mask || !matchPattern(mask, m_Constant(&bits)))
    return 0;
  auto values = bits.getValues<bool>();
  auto end = llvm::find(values, false);
  return llvm::is_contained(llvm::make_range(end, values.end()), true) ? 0 : std::distance(values.begin(), end);
}

/// The first `count` lanes, a power of two, at an address; zeros in the others.
static Value loadPrefix(OpBuilder &b, Location loc, Value pointer, VectorType type, int64_t count) {
  Value part = LLVM::LoadOp::create(b, loc, VectorType::get({count}, type.getElementType()), pointer, alignmentOf(type));
  Value zeros = number(b, loc, part.getType(), 0, 0);
  SmallVector<int64_t> lanes(type.getNumElements(), count);
  std::iota(lanes.begin(), lanes.begin() + count, 0);
  return vector::ShuffleOp::create(b, loc, part, zeros, lanes);
}

/// The first `count` lanes as pieces whose sizes are powers of two: processors that have masked stores may take a dozen
/// cycles for one.
static void storePrefix(OpBuilder &b, Location loc, Value value, Value pointer, int64_t count) {
  Type element = getElementTypeOrSelf(value.getType());
  for (int64_t first = 0; first < count;) {
    int64_t size = llvm::bit_floor(uint64_t(count - first));
    Value part = vector::ShuffleOp::create(b, loc, value, value, nd::range(first, first + size));
    Value place = LLVM::GEPOp::create(b, loc, pointer.getType(), element, pointer,
                                      ArrayRef<LLVM::GEPArg>{int32_t(first)}, LLVM::GEPNoWrapFlags::inbounds);
    LLVM::StoreOp::create(b, loc, part, place, alignmentOf(element));
    first += size;
  }
}

Value loadElement(OpBuilder &b, Location loc, Value pointer, Type type, Value mask) {
  Type stored = storedType(b, type);
  Value loaded;
  if (int64_t count = prefixOf(mask); llvm::isPowerOf2_64(count) && isa<VectorType>(type))
    loaded = loadPrefix(b, loc, pointer, cast<VectorType>(stored), count);
  else if (mask && isa<VectorType>(type))
    loaded =
        LLVM::MaskedLoadOp::create(b, loc, stored, pointer, mask, number(b, loc, stored, 0, 0), alignmentOf(stored));
  else
    loaded = LLVM::LoadOp::create(b, loc, stored, pointer, alignmentOf(stored));
  return fromStored(b, loc, loaded, type);
}

void storeElement(OpBuilder &b, Location loc, Value value, Value pointer, Value mask) {
  Type stored = storedType(b, value.getType());
  if (stored != value.getType())
    value = arith::ExtUIOp::create(b, loc, stored, value);
  if (int64_t count = prefixOf(mask); count && isa<VectorType>(stored))
    storePrefix(b, loc, value, pointer, count);
  else if (mask && isa<VectorType>(stored))
    LLVM::MaskedStoreOp::create(b, loc, value, pointer, mask, alignmentOf(stored));
  else
    LLVM::StoreOp::create(b, loc, value, pointer, alignmentOf(stored));
}

Value loadEvery(OpBuilder &b, Location loc, Value pointer, VectorType type, int64_t stride, Value mask) {
  int64_t lanes = type.getNumElements(), count = mask ? prefixOf(mask) : lanes;
  if (count == 0)
    return {};
  Type element = storedType(b, type.getElementType());
  auto side = VectorType::get({lanes * stride}, element);
  SmallVector<bool> bits(lanes * stride, false);
  std::fill_n(bits.begin(), (count - 1) * stride + 1, true);
  Value reached = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(VectorType::get({lanes * stride}, b.getI1Type()), ArrayRef<bool>(bits)));
  Value zeros = number(b, loc, side, 0, 0);
  Value all = LLVM::MaskedLoadOp::create(b, loc, side, pointer, reached, zeros, alignmentOf(element));
  SmallVector<int32_t> every;
  for (int64_t i = 0; i < lanes; ++i)
    every.push_back(int32_t(i * stride));
  return fromStored(b, loc, LLVM::ShuffleVectorOp::create(b, loc, all, all, every), type);
}

Value gatherElements(OpBuilder &b, Location loc, Value base, Type element, Value indices, Value mask) {
  auto indexType = cast<VectorType>(indices.getType());
  Type stored = storedType(b, element);
  Type vectorType = VectorType::get(indexType.getShape(), stored);
  Type pointers = VectorType::get(indexType.getShape(), LLVM::LLVMPointerType::get(b.getContext()));
  Value addresses = LLVM::GEPOp::create(b, loc, pointers, stored, base, ValueRange{indices});
  if (!mask)
    mask = number(b, loc, VectorType::get(indexType.getShape(), b.getI1Type()), 0, 1);
  Value loaded = LLVM::masked_gather::create(b, loc, vectorType, addresses, mask,
                                             ValueRange{number(b, loc, vectorType, 0, 0)}, alignmentOf(stored));
  return fromStored(b, loc, loaded, VectorType::get(indexType.getShape(), element));
}

} // namespace dyn::lower
