//===- ArrayOps.cpp - ops with a loop of their own ------------------------===//
//
// What neither fuses nor is a library's: plain loops over memory.
//
//===----------------------------------------------------------------------===//
#include "passes/lower/Abi.h"
#include "passes/lower/Elements.h"
#include "passes/lower/FunctionLowering.h"
#include "runtime/abi.h"

using namespace mlir;
using dyn::memory::isScalar;

namespace dyn::lower {

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Value FunctionLowering::add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
Value FunctionLowering::multiply(Value x, int64_t y) { return arith::MulIOp::create(b, loc, x, i64(y)); }

Value FunctionLowering::load(Value base, Type element, Value index, int64_t lanes) {
  return loadElement(b, loc, elementPointer(b, loc, base, element, index), laneType(element, lanes));
}
void FunctionLowering::store(Value value, Value base, Value index) {
  storeElement(b, loc, value, elementPointer(b, loc, base, getElementTypeOrSelf(value.getType()), index));
}

void FunctionLowering::loop(Value from, Value to, int64_t step, LoopBody body) {
  auto loop = scf::ForOp::create(b, loc, from, to, i64(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

SmallVector<Value> FunctionLowering::fold(Value from, Value to, int64_t step, ValueRange inits, FoldBody body) {
  auto loop = scf::ForOp::create(b, loc, from, to, i64(step), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(loop.getResults());
}

void FunctionLowering::overVectors(Value from, Value to, Type element, llvm::function_ref<void(Value, int64_t)> body) {
  int64_t lanes = kernels.getVectorBytes() / memory::elementBytes(element);
  Value count = arith::SubIOp::create(b, loc, to, from);
  Value whole = add(from, arith::AndIOp::create(b, loc, count, i64(-lanes)));
  loop(from, whole, lanes, [&](Value i) { body(i, lanes); });
  loop(whole, to, 1, [&](Value i) { body(i, 1); });
}

/// Sizes before, at and after a dimension.
struct Cut {
  int64_t outer, size, inner;
  Cut(ArrayRef<int64_t> shape, int64_t dim)
      : outer(ShapedType::getNumElements(shape.take_front(dim))), size(shape[dim]),
        inner(ShapedType::getNumElements(shape.drop_front(dim + 1))) {}
};

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

void FunctionLowering::lowerConcat(nd::ConcatOp op) {
  Cut cut(nd::shapeOf(op), op.getDim());
  int64_t unit = memory::elementBytes(op.getType()), done = 0;
  Value to = pointer(op);
  std::optional<memory::Place> place = memory::placeOf(op);
  for (Value input : op.getInputs()) {
    int64_t bytes = nd::shapeOf(input)[op.getDim()] * cut.inner * unit;
    auto reshape = input.getDefiningOp<nd::ReshapeOp>();
    if (reshape && isScalar(reshape.getInput())) {
      storeElement(b, loc, scalar(reshape.getInput()), offset(to, done));
    } else if (cut.outer == 1) {
      std::optional<memory::Place> slot = place;
      if (slot)
        slot->offset += done;
      copyUnlessThere(input, slot, offset(to, done));
    } else {
      Value from = pointer(input);
      loop(i64(0), i64(cut.outer), 1, [&](Value i) {
        Value target = offset(to, add(multiply(i, cut.size * cut.inner * unit), i64(done)));
        copy(target, offset(from, multiply(i, bytes)), bytes);
      });
    }
    done += bytes;
  }
}

Value FunctionLowering::checkIndex(Operation *op, Value index, int64_t size) {
  Value bound = i64(size);
  Value ok = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, bound);
  Value bad = arith::XOrIOp::create(b, loc, ok, boolConstant(b, loc, true));
  auto site = op->getAttrOfType<IntegerAttr>("site");
  auto branch = scf::IfOp::create(b, loc, bad, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  callFail(b, loc, context, DYN_BAD_INDEX, site ? site.getInt() : -1, index, bound);
  return ok;
}

void FunctionLowering::lowerScalarGather(nd::GatherOp op) {
  int64_t size = nd::shapeOf(op.getInput())[0];
  Type element = elementOf(op);
  Value index = scalar(op.getIndices());
  Value ok = checkIndex(op, index, size);
  Value safe = arith::SelectOp::create(b, loc, ok, index, i64(0));
  scalars[op] =
      size ? load(pointer(op.getInput()), element, safe) : reduceIdentity(b, loc, nd::ReduceKind::sum, element);
  leaveIfFailed();
}

void FunctionLowering::lowerScatter(nd::ScatterOp op) {
  Cut cut(nd::shapeOf(op.getBase()), op.getDim());
  int64_t count = nd::typeOf(op.getIndices()).getNumElements();
  Type element = elementOf(op);
  Value result = pointer(op);
  copyUnlessThere(op.getBase(), memory::placeOf(op), result);
  // One element may be in a register, as its place may be.
  Value updates = isScalar(op.getUpdates()) ? Value() : pointer(op.getUpdates());
  Value indices = isScalar(op.getIndices()) ? Value() : pointer(op.getIndices());
  bool adds = op.getMode() == nd::ScatterMode::add && !element.isInteger(1);
  bool any = op.getMode() == nd::ScatterMode::add && element.isInteger(1);
  loop(i64(0), i64(cut.outer), 1, [&](Value outer) {
    loop(i64(0), i64(count), 1, [&](Value i) {
      Value index = indices ? load(indices, b.getI64Type(), i) : scalar(op.getIndices());
      Value ok = checkIndex(op, index, cut.size);
      auto branch = scf::IfOp::create(b, loc, ok, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&branch.getThenRegion().front());
      Value to = multiply(add(multiply(outer, cut.size), index), cut.inner);
      Value from = multiply(add(multiply(outer, count), i), cut.inner);
      auto put = [&](Value x, Value place, int64_t lanes) {
        if (adds || any)
          x = reduceStep(b, loc, any ? nd::ReduceKind::any : nd::ReduceKind::sum, load(result, element, place, lanes),
                         x);
        store(x, result, place);
      };
      if (!updates)
        return put(scalar(op.getUpdates()), to, 1);
      overVectors(i64(0), i64(cut.inner), element, [&](Value at, int64_t lanes) {
        put(load(updates, element, add(from, at), lanes), add(to, at), lanes);
      });
    });
  });
  leaveIfFailed();
}

void FunctionLowering::lowerDraw(nd::DrawOp op) {
  Type element = elementOf(op);
  Value out = isScalar(op) ? stack(b.getI64Type(), 1) : pointer(op);
  callRuntime(b, loc, "dyn_draw",
              {context, i32(int64_t(op.getDist())), i32(elementCode(element)), i32(int64_t(op.getStream())),
               i64(op.getSite()), pointer(op.getCounter()), scalar(op.getBase()), out,
               i64(nd::typeOf(op).getNumElements())});
  if (isScalar(op))
    scalars[op] = loadElement(b, loc, out, element);
}

//===----------------------------------------------------------------------===//
// Reductions of their own
//===----------------------------------------------------------------------===//

void FunctionLowering::lowerCumulate(nd::CumulateOp op) {
  Cut cut(nd::shapeOf(op), op.getDim());
  Type element = elementOf(op);
  Value from = pointer(op.getInput()), to = pointer(op);
  loop(i64(0), i64(cut.outer), 1, [&](Value outer) {
    loop(i64(0), i64(cut.inner), 1, [&](Value inner) {
      Value base = add(multiply(outer, cut.size * cut.inner), inner);
      Value start = reduceIdentity(b, loc, op.getKind(), element);
      fold(i64(0), i64(cut.size), 1, start, [&](Value i, ValueRange sum) {
        Value at = add(base, multiply(i, cut.inner));
        Value next = reduceStep(b, loc, op.getKind(), sum[0], load(from, element, at));
        store(next, to, at);
        return SmallVector<Value>{next};
      });
    });
  });
}

/// The first greatest (least); the first nan before all.
void FunctionLowering::lowerArgReduce(nd::ArgReduceOp op) {
  Cut cut(nd::shapeOf(op.getInput()), op.getDim());
  Type element = elementOf(op.getInput());
  bool real = isa<FloatType>(element), max = op.getKind() == nd::ReduceKind::max;
  Value from = pointer(op.getInput()), to = isScalar(op) ? Value() : pointer(op);
  auto better = [&](Value x, Value best) -> Value {
    if (!real)
      return arith::CmpIOp::create(b, loc, max ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt, x, best);
    Value ahead = arith::CmpFOp::create(b, loc, max ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, x, best);
    Value xNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
    Value bestNumber = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, best, best);
    return arith::OrIOp::create(b, loc, ahead, arith::AndIOp::create(b, loc, xNan, bestNumber));
  };
  auto one = [&](Value base) {
    SmallVector<Value> start{load(from, element, base), i64(0)};
    return fold(i64(1), i64(cut.size), 1, start, [&](Value i, ValueRange best) {
      Value x = load(from, element, add(base, multiply(i, cut.inner)));
      Value take = better(x, best[0]);
      return SmallVector<Value>{arith::SelectOp::create(b, loc, take, x, best[0]),
                                arith::SelectOp::create(b, loc, take, i, best[1])};
    })[1];
  };
  if (!to) {
    scalars[op] = one(i64(0));
    return;
  }
  loop(i64(0), i64(cut.outer), 1, [&](Value outer) {
    loop(i64(0), i64(cut.inner), 1, [&](Value inner) {
      Value base = add(multiply(outer, cut.size * cut.inner), inner);
      store(one(base), to, add(multiply(outer, cut.inner), inner));
    });
  });
}

void FunctionLowering::lowerSegmentReduce(nd::SegmentReduceOp op) {
  Type element = elementOf(op);
  nd::ReduceKind kind = op.getKind();
  int64_t lanes = element.isInteger(1) ? 1 : kernels.getVectorBytes() / memory::elementBytes(element);
  constexpr int64_t sets = 4;
  Value from = pointer(op.getInput()), to = pointer(op), offsets = globalNumbers(op.getOffsets());
  loop(i64(0), i64(op.getOffsets().size() - 1), 1, [&](Value segment) {
    Value first = load(offsets, b.getI64Type(), segment), end = load(offsets, b.getI64Type(), add(segment, i64(1)));
    Value count = arith::SubIOp::create(b, loc, end, first);
    Value whole = add(first, arith::AndIOp::create(b, loc, count, i64(-lanes * sets)));
    Value start = reduceIdentity(b, loc, kind, element);
    SmallVector<Value> starts(sets, spread(b, loc, start, lanes));
    SmallVector<Value> sums = fold(first, whole, lanes * sets, starts, [&](Value i, ValueRange sum) {
      SmallVector<Value> next;
      for (int64_t k = 0; k < sets; ++k)
        next.push_back(reduceStep(b, loc, kind, sum[k], load(from, element, add(i, i64(k * lanes)), lanes)));
      return next;
    });
    auto join = [&](Value x, Value y) { return reduceStep(b, loc, kind, x, y); };
    Value total = reduceLanes(b, loc, kind, join(join(sums[0], sums[1]), join(sums[2], sums[3])));
    total = fold(whole, end, 1, total,
                 [&](Value i, ValueRange sum) { return SmallVector<Value>{join(sum[0], load(from, element, i))}; })[0];
    store(total, to, segment);
  });
}

void FunctionLowering::lowerSegmentSpread(nd::SegmentSpreadOp op) {
  Type element = elementOf(op);
  Value from = pointer(op.getInput()), to = pointer(op), offsets = globalNumbers(op.getOffsets());
  loop(i64(0), i64(op.getOffsets().size() - 1), 1, [&](Value segment) {
    Value first = load(offsets, b.getI64Type(), segment), end = load(offsets, b.getI64Type(), add(segment, i64(1)));
    Value x = load(from, element, segment);
    overVectors(first, end, element, [&](Value i, int64_t lanes) { store(spread(b, loc, x, lanes), to, i); });
  });
}

} // namespace dyn::lower
