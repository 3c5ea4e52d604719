//===- KernelEmitter.cpp - a fused body read at one index -----------------===//
#include "passes/lower/KernelEmitter.h"

#include "passes/lower/Abi.h"
#include "passes/lower/Elements.h"
#include "passes/lower/Passes.h"
#include "passes/memory/Places.h"
#include "runtime/abi.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace dyn::lower {

static unsigned levelOf(const Index &index) {
  unsigned level = 0;
  for (const Dim &dim : index)
    level = std::max(level, dim.base.level);
  return level;
}

static bool varies(const Index &index) {
  return llvm::any_of(index, [](const Dim &dim) { return dim.varies(); });
}

//===----------------------------------------------------------------------===//
// Index arithmetic; null is 0
//===----------------------------------------------------------------------===//

Emitted KernelEmitter::constant(int64_t value) {
  if (value == 0)
    return {};
  Value &known = constants[value];
  if (!known) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry);
    known = i64Constant(b, loc, value);
  }
  return {known, 0};
}

Emitted KernelEmitter::add(Emitted x, Emitted y) {
  if (!x.value || !y.value)
    return x.value ? x : y;
  unsigned level = std::max(x.level, y.level);
  return {arith::AddIOp::create(at(level), loc, x.value, y.value), level};
}

Emitted KernelEmitter::multiply(Emitted x, int64_t factor) {
  if (!x.value || factor == 0)
    return {};
  if (factor == 1)
    return x;
  Value by = constant(factor).value;
  return {arith::MulIOp::create(at(x.level), loc, x.value, by), x.level};
}

Value KernelEmitter::laneNumbers() {
  if (!laneIota) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry);
    auto type = VectorType::get({lanes}, b.getI64Type());
    laneIota = arith::ConstantOp::create(b, loc, DenseIntElementsAttr::get(type, nd::range(0, lanes)));
  }
  return laneIota;
}

Value KernelEmitter::laneMask(int64_t count) {
  Value &known = masks[count];
  if (!known) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry);
    SmallVector<bool> bits(lanes, false);
    std::fill_n(bits.begin(), count, true);
    auto type = VectorType::get({lanes}, b.getI1Type());
    known = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef<bool>(bits)));
  }
  return known;
}

Value KernelEmitter::vectorOf(const Dim &dim) {
  if (dim.lanes)
    return dim.lanes;
  Value step = dim.stride ? laneNumbers() : Value();
  if (step && dim.stride != 1)
    step = arith::MulIOp::create(at(0), loc, step, spread(at(0), loc, constant(dim.stride).value, lanes));
  Value base = dim.base.value ? dim.base.value : i64Constant(at(0), loc, 0);
  base = spread(at(dim.base.level), loc, base, lanes);
  return step ? arith::AddIOp::create(at(dim.base.level), loc, base, step).getResult() : base;
}

Dim KernelEmitter::scaled(const Dim &dim, int64_t factor, int64_t offset) {
  if (factor == 1 && offset == 0)
    return dim;
  Dim result;
  if (dim.lanes) {
    unsigned level = dim.base.level;
    Value by = spread(at(level), loc, i64Constant(at(level), loc, factor), lanes);
    Value plus = spread(at(level), loc, i64Constant(at(level), loc, offset), lanes);
    Value product = arith::MulIOp::create(at(level), loc, dim.lanes, by);
    result.lanes = arith::AddIOp::create(at(level), loc, product, plus);
    result.base.level = level;
    return result;
  }
  result.base = add(multiply(dim.base, factor), constant(offset));
  result.stride = dim.stride * factor;
  return result;
}

Dim KernelEmitter::linear(ArrayRef<int64_t> shape, const Index &index) {
  if (index.size() == 1)
    return index[0];
  ArrayRef<int64_t> domain = op.getDomain();
  // The present row: its number is known whole.
  bool row = !rowDims.empty() && !domain.empty() && index.size() >= rowDims.size() &&
             shape.take_front(rowDims.size()) == domain.drop_back();
  for (size_t i = 0; row && i < rowDims.size(); ++i)
    row = index[i].base.value == rowDims[i].base.value && !index[i].varies();
  SmallVector<Dim> terms;
  size_t first = 0;
  if (row) {
    int64_t size = ShapedType::getNumElements(shape.drop_front(rowDims.size()));
    terms.push_back(scaled(Dim{rowNumber, 0, nullptr}, size, 0));
    first = rowDims.size();
  }
  for (size_t i = first; i < index.size(); ++i)
    terms.push_back(scaled(index[i], ShapedType::getNumElements(shape.drop_front(i + 1)), 0));
  return sumOf(std::move(terms));
}

Dim KernelEmitter::sumOf(SmallVector<Dim> terms) {
  // Outer terms first, so that their sum is formed outside.
  llvm::sort(terms, [](const Dim &x, const Dim &y) { return x.base.level < y.base.level; });
  Dim sum;
  bool general = llvm::any_of(terms, [](const Dim &term) { return bool(term.lanes); });
  for (const Dim &term : terms) {
    if (general) {
      unsigned level = std::max(sum.base.level, term.base.level);
      Value vector = vectorOf(term);
      sum.lanes = sum.lanes ? arith::AddIOp::create(at(level), loc, sum.lanes, vector).getResult() : vector;
      sum.base = {nullptr, level};
    } else {
      sum.base = add(sum.base, term.base);
      sum.stride += term.stride;
    }
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value KernelEmitter::spreadHere(Emitted value) { return spread(at(value.level), loc, value.value, lanes); }

Emitted KernelEmitter::emit(Value value, const Index &index) {
  if (auto found = computed.find(value); found != computed.end())
    return found->second;
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && memory::isScalar(argument))
    return {inputs[argument.getArgNumber()], 0};
  Key key{value.getAsOpaquePointer()};
  for (const Dim &dim : index) {
    key.push_back(dim.base.value.getAsOpaquePointer());
    key.push_back(reinterpret_cast<const void *>(dim.stride));
    key.push_back(dim.lanes.getAsOpaquePointer());
  }
  key.push_back(mask.getAsOpaquePointer());
  if (auto found = cache.find(key); found != cache.end()) {
    unsigned level = found->second.emitted.level;
    if (level < levels.size() && levels[level].serial == found->second.serial)
      return found->second.emitted;
  }
  Emitted result = argument ? emitLoad(argument, index) : emitOp(value.getDefiningOp(), index);
  cache[key] = {result, levels[result.level].serial};
  return result;
}

Emitted KernelEmitter::emitOp(Operation *inner, const Index &index) {
  return llvm::TypeSwitch<Operation *, Emitted>(inner)
      .Case([&](nd::ConstantOp constantOp) { return Emitted{emitSplat(at(0), constantOp), 0}; })
      .Case([&](nd::IotaOp iota) -> Emitted {
        const Dim &dim = index[iota.getDim()];
        if (dim.varies())
          return {vectorOf(dim), dim.base.level};
        return dim.base.value ? dim.base : Emitted{i64Constant(at(0), loc, 0), 0};
      })
      .Case([&](nd::BroadcastOp broadcast) {
        Index inside;
        for (int64_t dim : broadcast.getDims())
          inside.push_back(index[dim]);
        return emit(broadcast.getInput(), inside);
      })
      .Case([&](nd::TransposeOp transpose) {
        Index inside(index.size());
        for (auto [i, dim] : llvm::enumerate(transpose.getPerm()))
          inside[dim] = index[i];
        return emit(transpose.getInput(), inside);
      })
      .Case([&](nd::SliceOp slice) {
        Index inside;
        for (auto [dim, stride, offset] : llvm::zip(index, slice.getStrides(), slice.getOffsets()))
          inside.push_back(scaled(dim, stride, offset));
        return emit(slice.getInput(), inside);
      })
      .Case([&](nd::ReshapeOp reshape) { return emit(reshape.getInput(), {}); }) // of a scalar
      .Case([&](nd::GatherOp gather) { return emitGather(gather, index); })
      .Case([&](nd::PadOp pad) { return emitPad(pad, index); })
      .Case([&](nd::WindowOp window) { return emitWindow(window, index); })
      .Case([&](nd::ReduceOp reduce) { return emitReduce(reduce, index); })
      .Default([&](Operation *other) { return emitElementwise(other, index); });
}

Emitted KernelEmitter::emitElementwise(Operation *inner, const Index &index) {
  auto div = dyn_cast<nd::DivOp>(inner);
  if (Emitted contracted = div ? emitQuotient(div, index) : emitMultiplyAdd(inner, index); contracted.value)
    return contracted;
  SmallVector<Emitted> operands;
  unsigned level = 0;
  bool vector = false;
  for (Value operand : inner->getOperands()) {
    operands.push_back(emit(operand, index));
    level = std::max(level, operands.back().level);
    vector |= isa<VectorType>(operands.back().value.getType());
  }
  // A choice of the function is a branch, not a mask of lanes made anew in each pass.
  const Emitted *choice = isa<nd::SelectOp>(inner) && operands[0].level == 0 ? operands.begin() : nullptr;
  SmallVector<Value> values;
  for (const Emitted &operand : operands)
    values.push_back(vector && &operand != choice ? spreadHere(operand) : operand.value);
  return {emitElement(at(level), inner, values), level};
}

Emitted KernelEmitter::emitLoad(BlockArgument argument, const Index &index) {
  Value base = inputs[argument.getArgNumber()];
  Type element = elementOf(argument);
  Dim offset = linear(nd::shapeOf(argument), index);
  unsigned level = offset.base.level;
  constexpr int64_t mostApart = 4; // beyond, a gather reads fewer bytes
  if (lanes > 1 && !offset.lanes && offset.stride > 1 && offset.stride <= mostApart) {
    Value from = offset.base.value ? elementPointer(at(level), loc, base, element, offset.base.value) : base;
    auto type = cast<VectorType>(laneType(element, lanes));
    if (Value every = loadEvery(at(level), loc, from, type, offset.stride, mask))
      return {every, level};
  }
  if (offset.lanes || (offset.stride != 0 && offset.stride != 1)) {
    Value positions = vectorOf(offset);
    return {gatherElements(at(level), loc, base, element, positions, mask), level};
  }
  Value pointer = base;
  if (offset.base.value)
    pointer = elementPointer(at(level), loc, base, element, offset.base.value);
  Type type = offset.stride ? laneType(element, lanes) : element;
  return {loadElement(at(level), loc, pointer, type, offset.stride ? mask : Value()), level};
}

Dim KernelEmitter::checked(Emitted position, int64_t size, Operation *inner) {
  unsigned level = position.level;
  bool vector = isa<VectorType>(position.value.getType());
  OpBuilder &builder = at(level);
  auto like = [&](Value scalar) { return vector ? spread(builder, loc, scalar, lanes) : scalar; };
  Value bound = i64Constant(builder, loc, size);
  Value ok = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, position.value, like(bound));
  Value bad = arith::XOrIOp::create(builder, loc, ok, like(boolConstant(builder, loc, true)));
  Value refused = position.value;
  if (vector) {
    if (mask)
      bad = arith::AndIOp::create(builder, loc, bad, mask);
    Value least = like(i64Constant(builder, loc, std::numeric_limits<int64_t>::min()));
    refused = reduceLanes(builder, loc, nd::ReduceKind::max,
                          arith::SelectOp::create(builder, loc, bad, position.value, least));
    bad = reduceLanes(builder, loc, nd::ReduceKind::any, bad);
  }
  auto site = inner->getAttrOfType<IntegerAttr>("site");
  scf::IfOp::create(builder, loc, bad, [&](OpBuilder &inside, Location) {
    callFail(inside, loc, context, DYN_BAD_INDEX, site ? site.getInt() : -1, refused, bound);
    scf::YieldOp::create(inside, loc);
  });
  Value zero = like(i64Constant(builder, loc, 0));
  Value safe = arith::SelectOp::create(builder, loc, ok, position.value, zero);
  Dim dim;
  dim.base = {vector ? Value() : safe, level};
  if (vector)
    dim.lanes = safe;
  return dim;
}

Emitted KernelEmitter::emitGather(nd::GatherOp gather, const Index &index) {
  int64_t dim = gather.getDim(), rank = nd::typeOf(gather.getIndices()).getRank();
  int64_t size = nd::shapeOf(gather.getInput())[dim];
  Index where(index.begin() + dim, index.begin() + dim + rank);
  Emitted position = emit(gather.getIndices(), where);
  Index inside(index.begin(), index.begin() + dim);
  inside.push_back(checked(position, size, gather));
  inside.append(index.begin() + dim + rank, index.end());
  if (size == 0)
    return {reduceIdentity(at(0), loc, nd::ReduceKind::sum, elementOf(gather)), 0};
  return emit(gather.getInput(), inside);
}

Emitted KernelEmitter::emitPad(nd::PadOp pad, const Index &index) {
  Index moved;
  SmallVector<bool> checked;
  for (auto [dim, low, high] : llvm::zip(index, pad.getLow(), pad.getHigh())) {
    moved.push_back(scaled(dim, 1, -low));
    checked.push_back(low || high);
  }
  return emitWithin(pad.getInput(), moved, checked);
}

Emitted KernelEmitter::emitWindow(nd::WindowOp window, const Index &index) {
  nd::WindowSpec spec = nd::specOf(window);
  size_t lead = index.size() - 2 * spec.rank();
  Index moved(index.begin(), index.begin() + lead);
  SmallVector<bool> checked(lead, false);
  for (int64_t d = 0; d < spec.rank(); ++d) {
    const Dim &inWindow = index[lead + d], &place = index[lead + spec.rank() + d];
    moved.push_back(sumOf({scaled(inWindow, spec.dilations[d], -spec.low[d]), scaled(place, spec.strides[d], 0)}));
    checked.push_back(spec.low[d] || spec.high[d]);
  }
  return emitWithin(window.getInput(), moved, checked);
}

Emitted KernelEmitter::emitWithin(Value input, const Index &positions, ArrayRef<bool> checked) {
  ArrayRef<int64_t> shape = nd::shapeOf(input);
  Value zero = reduceIdentity(at(0), loc, nd::ReduceKind::sum, elementOf(input));
  if (ShapedType::getNumElements(shape) == 0)
    return {zero, 0};
  Index inside;
  Emitted all;
  for (auto [i, moved] : llvm::enumerate(positions)) {
    if (!checked[i]) {
      inside.push_back(moved);
      continue;
    }
    unsigned level = moved.base.level;
    Value position = moved.varies() ? vectorOf(moved) : moved.base.value;
    if (!position)
      position = i64Constant(at(level), loc, 0);
    auto like = [&](int64_t x) {
      Value scalar = i64Constant(at(level), loc, x);
      return moved.varies() ? spread(at(level), loc, scalar, lanes) : scalar;
    };
    Value ok = arith::CmpIOp::create(at(level), loc, arith::CmpIPredicate::ult, position, like(shape[i]));
    Value safe = arith::SelectOp::create(at(level), loc, ok, position, like(0));
    Dim clamped;
    clamped.base = {moved.varies() ? Value() : safe, level};
    if (moved.varies())
      clamped.lanes = safe;
    inside.push_back(clamped);
    if (!all.value) {
      all = {ok, level};
      continue;
    }
    unsigned both = std::max(level, all.level);
    bool vector = isa<VectorType>(ok.getType()) || isa<VectorType>(all.value.getType());
    Value x = vector ? spread(at(both), loc, all.value, lanes) : all.value;
    Value y = vector ? spread(at(both), loc, ok, lanes) : ok;
    all = {arith::AndIOp::create(at(both), loc, x, y), both};
  }
  Emitted element = emit(input, inside);
  if (!all.value)
    return element;
  unsigned level = std::max(all.level, element.level);
  bool vector = isa<VectorType>(all.value.getType()) || isa<VectorType>(element.value.getType());
  auto like = [&](Value v) { return vector ? spread(at(level), loc, v, lanes) : v; };
  return {arith::SelectOp::create(at(level), loc, like(all.value), like(element.value), like(zero)), level};
}

/// A reduction in a map: loops of its own at the level at which its index is known.
Emitted KernelEmitter::emitReduce(nd::ReduceOp reduce, const Index &index) {
  unsigned level = levelOf(index);
  SmallVector<Level> deeper(levels.begin() + level + 1, levels.end());
  levels.truncate(level + 1);
  Index inside;
  unsigned next = 0;
  for (int64_t i = 0, rank = nd::typeOf(reduce.getInput()).getRank(); i < rank; ++i)
    inside.push_back(llvm::is_contained(reduce.getDims(), i) ? Dim() : index[next++]);
  bool vector = varies(index);
  Value accumulator = reduceIdentity(here(), loc, reduce.getKind(), elementOf(reduce));
  if (vector)
    accumulator = spread(here(), loc, accumulator, lanes);
  reduceInto(reduce, inside, 0, vector, accumulator);
  levels.append(deeper);
  return {accumulator, level};
}

/// Loops over the reduced dimensions from number `at` on; the innermost keeps four sums when it is long.
void KernelEmitter::reduceInto(nd::ReduceOp reduce, Index &index, unsigned number, bool vector, Value &accumulator) {
  auto step = [&](Value sum) { return reduceElement(reduce, index, vector, sum); };
  if (number == reduce.getDims().size()) {
    accumulator = step(accumulator);
    return;
  }
  int64_t dim = reduce.getDims()[number], size = nd::shapeOf(reduce.getInput())[dim];
  bool innermost = number + 1 == reduce.getDims().size();
  constexpr int64_t sums = 4;
  if (!innermost || size < 2 * sums) {
    auto loop = openLoop({}, constant(size), 1, ValueRange{accumulator});
    index[dim].base = {loop.getInductionVar(), depth()};
    Value inner = loop.getRegionIterArg(0);
    reduceInto(reduce, index, number + 1, vector, inner);
    closeLoop(loop, inner);
    accumulator = loop.getResult(0);
    return;
  }
  Value identity = reduceIdentity(here(), loc, reduce.getKind(), elementOf(reduce));
  if (vector)
    identity = spread(here(), loc, identity, lanes);
  SmallVector<Value> starts{accumulator, identity, identity, identity};
  auto loop = openLoop({}, constant(size / sums * sums), sums, starts);
  SmallVector<Value> yields;
  for (int64_t k = 0; k < sums; ++k) {
    index[dim].base = add({loop.getInductionVar(), depth()}, constant(k));
    yields.push_back(step(loop.getRegionIterArg(k)));
  }
  closeLoop(loop, yields);
  auto join = [&](Value x, Value y) { return reduceStep(here(), loc, reduce.getKind(), x, y); };
  accumulator = join(join(loop.getResult(0), loop.getResult(1)), join(loop.getResult(2), loop.getResult(3)));
  for (int64_t i = size / sums * sums; i < size; ++i) {
    index[dim].base = constant(i);
    accumulator = step(accumulator);
  }
}

} // namespace dyn::lower
