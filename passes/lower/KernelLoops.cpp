//===- KernelLoops.cpp - the loops around a fused body --------------------===//
#include "passes/lower/Abi.h"
#include "passes/lower/Elements.h"
#include "passes/lower/KernelEmitter.h"
#include "passes/lower/Passes.h"
#include "passes/memory/Places.h"

using namespace mlir;
using dyn::kernel::Form;

namespace dyn::lower {

/// Vectors that a short loop is unrolled to.
constexpr int64_t unrolledPieces = 4;

int64_t KernelEmitter::extentOf(kernel::FusedOp op) {
  ArrayRef<int64_t> domain = op.getDomain();
  if (op.getForm() == Form::total)
    return memory::totalShapeOf(op).blocks;
  // The rows of an epilogue are those of its product.
  if (op.getForm() == Form::map && memory::isFlat(op) && !op.getEpilogue())
    return ShapedType::getNumElements(domain);
  return ShapedType::getNumElements(domain.drop_back());
}

bool KernelEmitter::isSameCode(kernel::FusedOp x, kernel::FusedOp y) {
  return x.getForm() == y.getForm() && x.getDomain() == y.getDomain() && x.getEpilogue() == y.getEpilogue() &&
         OperationEquivalence::isRegionEquivalentTo(&x.getBody(), &y.getBody(), OperationEquivalence::IgnoreLocations);
}

int64_t KernelEmitter::lanesOf(kernel::FusedOp op, int64_t vectorBytes) {
  int64_t widest = 0;
  op.getBody().walk([&](Operation *inner) {
    auto see = [&](Value v) {
      Type element = elementOf(v);
      if (!memory::isScalar(v) && isa<FloatType>(element))
        widest = std::max<int64_t>(widest, element.getIntOrFloatBitWidth() / 8);
    };
    llvm::for_each(inner->getOperands(), see);
    llvm::for_each(inner->getResults(), see);
  });
  ArrayRef<int64_t> domain = op.getDomain();
  bool whole = memory::isFlat(op) && !op.getEpilogue();
  int64_t count = whole ? ShapedType::getNumElements(domain) : domain.back();
  int64_t lanes = vectorBytes / (widest ? widest : 8);
  return std::max<int64_t>(1, std::min<int64_t>(lanes, llvm::PowerOf2Ceil(std::max<int64_t>(count, 1))));
}

KernelEmitter::KernelEmitter(ModuleOp module, kernel::FusedOp op, StringRef name, int64_t vectorBytes)
    : module(module), op(op), name(name), loc(op.getLoc()), lanes(lanesOf(op, vectorBytes)),
      flat(memory::isFlat(op) && !op.getEpilogue()), b(module.getContext()) {}

LLVM::LLVMFuncOp KernelEmitter::emit() {
  Type pointer = pointerType(b.getContext()), i64 = b.getI64Type();
  b.setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {pointer, i64, i64});
  auto function = LLVM::LLVMFuncOp::create(b, loc, name, type, LLVM::Linkage::Internal);
  entry = function.addEntryBlock(b);
  lo = entry->getArgument(1);
  hi = entry->getArgument(2);
  levels.push_back({entry, nullptr, serials++, nullptr});
  emitProlog();
  if (ShapedType::getNumElements(op.getDomain()) != 0 || op.getForm() != Form::map) {
    switch (op.getForm()) {
    case Form::map:
      emitMap();
      break;
    case Form::row:
      emitRows([&] { emitRow(); });
      break;
    case Form::total:
      emitTotal();
      break;
    }
  }
  LLVM::ReturnOp::create(here(), loc, ValueRange());
  return function;
}

void KernelEmitter::emitProlog() {
  Value closure = entry->getArgument(0);
  int32_t slot = 0;
  Type pointer = pointerType(b.getContext());
  auto next = [&](Type type) -> Value {
    Value address = LLVM::GEPOp::create(here(), loc, pointer, b.getI64Type(), closure,
                                        ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(slot++)});
    if (type == pointer)
      return LLVM::LoadOp::create(here(), loc, type, address);
    return loadElement(here(), loc, address, type);
  };
  context = next(pointer);
  for (BlockArgument argument : op.getBody().getArguments())
    inputs.push_back(next(memory::isScalar(argument) ? elementOf(argument) : pointer));
  for (size_t i = 0; i < op.getNumResults(); ++i)
    outputs.push_back(next(pointer));
}

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

OpBuilder &KernelEmitter::at(unsigned level) {
  const Level &target = levels[level];
  if (target.anchor)
    b.setInsertionPoint(target.anchor);
  else if (!target.block->empty() && target.block->back().hasTrait<OpTrait::IsTerminator>())
    b.setInsertionPoint(&target.block->back());
  else
    b.setInsertionPointToEnd(target.block);
  return b;
}

scf::ForOp KernelEmitter::openLoop(Emitted from, Emitted to, int64_t step, ValueRange inits) {
  Value zero = constants[0];
  if (!zero) {
    at(0);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry);
    zero = constants[0] = i64Constant(b, loc, 0);
  }
  Value by = constant(step).value;
  auto loop = scf::ForOp::create(here(), loc, from.value ? from.value : zero, to.value ? to.value : zero, by, inits);
  Operation *outer = levels.back().anchor;
  levels.back().anchor = loop;
  levels.push_back({loop.getBody(), nullptr, serials++, outer});
  return loop;
}

void KernelEmitter::closeLoop(scf::ForOp loop, ValueRange yields) {
  if (!yields.empty())
    scf::YieldOp::create(here(), loc, yields);
  Operation *outer = levels.back().outerAnchor;
  levels.pop_back();
  levels.back().anchor = outer;
}

SmallVector<Value> KernelEmitter::branch(Value condition, ArrayRef<Value> otherwise,
                                         llvm::function_ref<SmallVector<Value>()> inside) {
  auto types = llvm::map_to_vector(otherwise, [](Value v) { return v.getType(); });
  auto op = scf::IfOp::create(here(), loc, types, condition, /*withElseRegion=*/!otherwise.empty());
  Operation *outer = levels.back().anchor;
  levels.back().anchor = op;
  levels.push_back({&op.getThenRegion().front(), nullptr, serials++, outer});
  SmallVector<Value> yields = inside();
  if (!otherwise.empty())
    scf::YieldOp::create(here(), loc, yields);
  levels.pop_back();
  levels.back().anchor = outer;
  if (!otherwise.empty()) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&op.getElseRegion().front());
    scf::YieldOp::create(b, loc, otherwise);
  }
  return SmallVector<Value>(op.getResults());
}

void KernelEmitter::sweep(int64_t count, unsigned sets, SmallVectorImpl<Value> &accumulators,
                          llvm::function_ref<void(const Dim &, MutableArrayRef<Value>)> body) {
  int64_t pieces = count / lanes, rest = count % lanes;
  size_t each = accumulators.size() / sets;
  auto piece = [&](Emitted base, int64_t number, SmallVectorImpl<Value> &all) {
    body(Dim{base, lanes == 1 ? 0 : 1, nullptr}, MutableArrayRef<Value>(all).slice(number % sets * each, each));
  };
  int64_t done = 0;
  // Without reductions there is nothing to keep from one pass to the next.
  int64_t unrolled = op.getForm() == Form::row ? unrolledPieces : 2;
  if (pieces + (rest ? 1 : 0) > unrolled) {
    int64_t group = int64_t(sets) * lanes;
    auto loop = openLoop({}, constant(pieces / sets * group), group, accumulators);
    SmallVector<Value> inner(loop.getRegionIterArgs());
    for (unsigned k = 0; k < sets; ++k)
      piece(add({loop.getInductionVar(), depth()}, constant(k * lanes)), k, inner);
    closeLoop(loop, inner);
    accumulators.assign(loop.getResults().begin(), loop.getResults().end());
    done = pieces / sets * sets;
  }
  for (; done < pieces; ++done)
    piece(constant(done * lanes), done, accumulators);
  if (!rest)
    return;
  mask = laneMask(rest);
  piece(constant(pieces * lanes), pieces, accumulators);
  mask = nullptr;
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

void KernelEmitter::storeOutputs(const Dim &last) {
  auto yield = cast<kernel::YieldOp>(op.getBody().front().getTerminator());
  Index index = rowDims;
  index.push_back(last);
  struct Store {
    Value value;
    unsigned output;
  };
  SmallVector<Store> stores;
  for (auto [i, value] : llvm::enumerate(yield.getValues())) {
    if (nd::shapeOf(value) != op.getDomain())
      continue;
    Emitted emitted = emit(value, index);
    stores.push_back({last.varies() ? spread(here(), loc, emitted.value, lanes) : emitted.value, unsigned(i)});
  }
  // All is read before anything is written: outputs may lie on inputs.
  Dim offset = flat ? last : linear(op.getDomain(), index);
  for (const Store &store : stores) {
    Value pointer = outputs[store.output];
    if (offset.base.value)
      pointer = elementPointer(here(), loc, pointer, getElementTypeOrSelf(store.value.getType()), offset.base.value);
    storeElement(here(), loc, store.value, pointer, last.varies() ? mask : Value());
  }
}

void KernelEmitter::emitMap() {
  SmallVector<Value> none;
  if (!flat)
    return emitRows([&] {
      sweep(op.getDomain().back(), 1, none, [&](const Dim &dim, MutableArrayRef<Value>) { storeOutputs(dim); });
    });
  int64_t count = ShapedType::getNumElements(op.getDomain());
  if (count <= unrolledPieces * lanes)
    return sweep(count, 1, none, [&](const Dim &dim, MutableArrayRef<Value>) { storeOutputs(dim); });
  // Pieces start at multiples of the vector and end at one or at the end.
  int64_t rest = count % lanes;
  Value full = hi;
  if (rest)
    full = arith::AndIOp::create(here(), loc, hi, constant(-lanes).value);
  forPlainAndScaled([&] {
    auto loop = openLoop({lo, 0}, {full, 0}, lanes, {});
    storeOutputs(Dim{{loop.getInductionVar(), depth()}, lanes == 1 ? 0 : 1, nullptr});
    closeLoop(loop, {});
  });
  if (!rest)
    return;
  Value some = arith::CmpIOp::create(here(), loc, arith::CmpIPredicate::slt, full, hi);
  branch(some, {}, [&]() -> SmallVector<Value> {
    mask = laneMask(rest);
    // Of this level, so that nothing of it is done where it is not needed.
    storeOutputs(Dim{{constant(count - rest).value, depth()}, 1, nullptr});
    mask = nullptr;
    return SmallVector<Value>();
  });
}

/// One call of `row` for each row of [lo, hi), with its indices in rowDims.
void KernelEmitter::emitRows(llvm::function_ref<void()> row) {
  auto loop = openLoop({lo, 0}, {hi, 0}, 1, {});
  enterRow({loop.getInductionVar(), depth()});
  row();
  closeLoop(loop, {});
}

void KernelEmitter::enterRow(Emitted row) {
  rowNumber = row;
  ArrayRef<int64_t> outer = op.getDomain().drop_back();
  rowDims.assign(outer.size(), Dim());
  Emitted left = row;
  for (int64_t i = int64_t(outer.size()) - 1; i > 0; --i) {
    Value size = constant(std::max<int64_t>(outer[i], 1)).value;
    rowDims[i].base = {arith::RemUIOp::create(at(row.level), loc, left.value, size), row.level};
    left = {arith::DivUIOp::create(at(row.level), loc, left.value, size), row.level};
  }
  if (!outer.empty())
    rowDims[0].base = left;
}

static SmallVector<nd::ReduceOp> reducesOf(kernel::FusedOp op) {
  return llvm::to_vector(op.getBody().getOps<nd::ReduceOp>());
}

/// Sums side by side hide the latency of one; more than what fits in registers hides nothing.
unsigned KernelEmitter::setsOf(kernel::FusedOp op) { return llvm::range_size(op.getBody().getOps()) <= 24 ? 4 : 2; }

SmallVector<Value> KernelEmitter::startAccumulators(ArrayRef<nd::ReduceOp> reduces, unsigned sets) {
  SmallVector<Value> accumulators;
  for (unsigned k = 0; k < sets; ++k)
    for (nd::ReduceOp reduce : reduces)
      accumulators.push_back(
          spread(here(), loc, reduceIdentity(here(), loc, reduce.getKind(), elementOf(reduce)), lanes));
  return accumulators;
}

void KernelEmitter::accumulate(ArrayRef<nd::ReduceOp> reduces, const Dim &last, MutableArrayRef<Value> accumulators) {
  Index index = rowDims;
  index.push_back(last);
  for (auto [i, op] : llvm::enumerate(reduces)) {
    nd::ReduceOp reduce = op;
    Value next = reduceElement(reduce, index, /*vector=*/true, accumulators[i]);
    accumulators[i] = mask ? arith::SelectOp::create(here(), loc, mask, next, accumulators[i]).getResult() : next;
  }
}

SmallVector<Value> KernelEmitter::finishAccumulators(ArrayRef<nd::ReduceOp> reduces, unsigned sets,
                                                     ArrayRef<Value> accumulators) {
  SmallVector<Value> results;
  size_t each = reduces.size();
  for (auto [i, op] : llvm::enumerate(reduces)) {
    nd::ReduceOp reduce = op;
    SmallVector<Value> left;
    for (unsigned k = 0; k < sets; ++k)
      left.push_back(accumulators[k * each + i]);
    while (left.size() > 1) {
      for (size_t k = 0; k < left.size() / 2; ++k)
        left[k] = reduceStep(here(), loc, reduce.getKind(), left[2 * k], left[2 * k + 1]);
      left.resize(left.size() / 2);
    }
    results.push_back(reduceLanes(here(), loc, reduce.getKind(), left[0]));
  }
  return results;
}

std::vector<SmallVector<nd::ReduceOp>> KernelEmitter::generations() {
  llvm::DenseMap<Value, size_t> generation;
  std::vector<SmallVector<nd::ReduceOp>> lists;
  for (Operation &inner : op.getBody().front()) {
    size_t latest = 0;
    for (Value operand : inner.getOperands())
      latest = std::max(latest, generation.lookup(operand));
    if (auto reduce = dyn_cast<nd::ReduceOp>(inner)) {
      lists.resize(std::max(lists.size(), latest + 1));
      lists[latest++].push_back(reduce);
    }
    for (Value result : inner.getResults())
      generation[result] = latest;
  }
  return lists;
}

/// One pass over the row for each generation; then the outputs.
void KernelEmitter::emitRow() {
  int64_t width = op.getDomain().back();
  unsigned sets = setsOf(op);
  for (ArrayRef<nd::ReduceOp> reduces : generations()) {
    SmallVector<Value> accumulators = startAccumulators(reduces, sets);
    sweep(width, sets, accumulators,
          [&](const Dim &dim, MutableArrayRef<Value> set) { accumulate(reduces, dim, set); });
    SmallVector<Value> results = finishAccumulators(reduces, sets, accumulators);
    for (auto [reduce, result] : llvm::zip(reduces, results))
      computed[nd::ReduceOp(reduce).getResult()] = {result, depth()};
  }
  auto yield = cast<kernel::YieldOp>(op.getBody().front().getTerminator());
  SmallVector<Value> none;
  bool whole = llvm::any_of(yield.getValues(), [&](Value v) { return nd::shapeOf(v) == op.getDomain(); });
  // Scalars of the row are read before its elements are written, and written after: they may lie on inputs.
  SmallVector<std::pair<unsigned, Value>> scalars;
  for (auto [i, value] : llvm::enumerate(yield.getValues()))
    if (nd::shapeOf(value) != op.getDomain())
      scalars.push_back({unsigned(i), emit(value, rowDims).value});
  if (whole)
    sweep(width, 1, none, [&](const Dim &dim, MutableArrayRef<Value>) { storeOutputs(dim); });
  for (auto [i, value] : scalars) {
    Value pointer = elementPointer(here(), loc, outputs[i], value.getType(), rowNumber.value);
    storeElement(here(), loc, value, pointer);
  }
}

void KernelEmitter::emitTotal() {
  SmallVector<nd::ReduceOp> reduces = reducesOf(op);
  unsigned sets = setsOf(op);
  auto loop = openLoop({lo, 0}, {hi, 0}, 1, {});
  Emitted block{loop.getInductionVar(), depth()};
  SmallVector<Value> accumulators = startAccumulators(reduces, sets);
  emitTotalBlock(block, accumulators);
  SmallVector<Value> results = finishAccumulators(reduces, sets, accumulators);
  auto yield = cast<kernel::YieldOp>(op.getBody().front().getTerminator());
  for (auto [i, value] : llvm::enumerate(yield.getValues()))
    for (auto [reduce, result] : llvm::zip(reduces, results))
      if (value == reduce.getResult())
        storeElement(here(), loc, result, elementPointer(here(), loc, outputs[i], result.getType(), block.value));
  closeLoop(loop, {});
}

void KernelEmitter::emitTotalBlock(Emitted block, SmallVectorImpl<Value> &accumulators) {
  SmallVector<nd::ReduceOp> reduces = reducesOf(op);
  unsigned sets = setsOf(op);
  memory::TotalShape shape = memory::totalShapeOf(op);
  auto piece = [&](const Dim &dim, MutableArrayRef<Value> set) {
    accumulate(reduces, dim, set);
    storeOutputs(dim);
  };
  if (shape.items == 0)
    return;
  Emitted first = multiply(block, shape.blockItems);
  Emitted end = add(first, constant(shape.blockItems));
  auto upTo = [&](int64_t bound) -> Emitted {
    return {arith::MinSIOp::create(here(), loc, end.value, constant(bound).value), depth()};
  };
  if (!flat) {
    Emitted stop = shape.items % shape.blockItems ? upTo(shape.items) : end;
    auto loop = openLoop(first, stop, 1, accumulators);
    SmallVector<Value> inner(loop.getRegionIterArgs());
    enterRow({loop.getInductionVar(), depth()});
    sweep(op.getDomain().back(), sets, inner, piece);
    closeLoop(loop, inner);
    accumulators.assign(loop.getResults().begin(), loop.getResults().end());
    return;
  }
  if (shape.blocks == 1)
    return sweep(shape.items, sets, accumulators, piece);
  int64_t group = int64_t(sets) * lanes, rest = shape.items % group;
  size_t each = reduces.size();
  auto loop = openLoop(first, shape.items % shape.blockItems ? upTo(shape.items - rest) : end, group, accumulators);
  SmallVector<Value> inner(loop.getRegionIterArgs());
  for (unsigned k = 0; k < sets; ++k)
    piece(Dim{add({loop.getInductionVar(), depth()}, constant(k * lanes)), lanes == 1 ? 0 : 1, nullptr},
          MutableArrayRef<Value>(inner).slice(k * each, each));
  closeLoop(loop, inner);
  accumulators.assign(loop.getResults().begin(), loop.getResults().end());
  if (!rest)
    return;
  // What is less than a group is in the last block.
  Value isLast = arith::CmpIOp::create(here(), loc, arith::CmpIPredicate::sgt, end.value, constant(shape.items).value);
  SmallVector<Value> before(accumulators.begin(), accumulators.end());
  SmallVector<Value> after = branch(isLast, before, [&]() -> SmallVector<Value> {
    SmallVector<Value> all(before);
    for (int64_t done = 0; done < rest; done += lanes) {
      int64_t count = std::min(lanes, rest - done);
      mask = count < lanes ? laneMask(count) : Value();
      piece(Dim{{constant(shape.items - rest + done).value, depth()}, lanes == 1 ? 0 : 1, nullptr},
            MutableArrayRef<Value>(all).slice(done / lanes * each, each));
      mask = nullptr;
    }
    return all;
  });
  accumulators.assign(after.begin(), after.end());
}

} // namespace dyn::lower
