//===- RegionOps.cpp - scan, while and cond -------------------------------===//
//
// Scalars are carried as SSA values, arrays in the places of the op's results.
//
//===----------------------------------------------------------------------===//
#include "passes/lower/Abi.h"
#include "passes/lower/Elements.h"
#include "passes/lower/FunctionLowering.h"
#include "runtime/abi.h"

using namespace mlir;
using dyn::memory::isScalar;

namespace dyn::lower {

void FunctionLowering::placeInits(Operation *op, ValueRange inits) {
  for (auto [init, result] : llvm::zip(inits, op->getResults()))
    if (!isScalar(init))
      copyUnlessThere(init, memory::placeOf(result), pointer(result));
}

void FunctionLowering::placeCarries(Operation *op, ValueRange next, ValueRange arguments) {
  // What is another carry's present value moves aside first.
  SmallVector<Value> from;
  for (auto [i, value] : llvm::enumerate(next)) {
    Value source;
    if (!isScalar(value)) {
      Value base = memory::viewOf(value).base;
      bool other = llvm::is_contained(arguments, base) && base != arguments[i];
      if (other) {
        source = stack(b.getI8Type(), memory::bytesOf(value));
        copy(source, pointer(value), memory::bytesOf(value));
      }
    }
    from.push_back(source);
  }
  for (auto [i, value] : llvm::enumerate(next)) {
    if (isScalar(value) || memory::viewOf(value).base == arguments[i])
      continue;
    Value to = pointer(op->getResult(i));
    if (from[i])
      copy(to, from[i], memory::bytesOf(value));
    else
      copyUnlessThere(value, memory::placeOf(op->getResult(i)), to);
  }
}

LogicalResult FunctionLowering::lowerScan(nd::ScanOp op) {
  size_t carries = op.getInits().size();
  int64_t trip = op.getTrip();
  placeInits(op, op.getInits());
  SmallVector<Value> starts;
  for (Value init : op.getInits())
    if (isScalar(init))
      starts.push_back(scalar(init));
  // Addresses of what moves with the loop are taken outside.
  SmallVector<Value> inputs, stacks;
  for (Value x : op.getXs())
    inputs.push_back(trip ? pointer(x) : Value());
  for (Value result : op.getResults().drop_front(carries))
    stacks.push_back(pointer(result));
  auto loop = scf::ForOp::create(b, loc, i64(0), i64(trip), i64(1), starts);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value pass = loop.getInductionVar();
  if (op.getReverse())
    pass = arith::SubIOp::create(b, loc, i64(trip - 1), pass);
  passOf[op] = pass;
  Block &body = op.getBody().front();
  scalars[body.getArgument(0)] = pass;
  unsigned next = 0;
  for (size_t i = 0; i < carries; ++i) {
    BlockArgument argument = body.getArgument(1 + i);
    if (isScalar(argument))
      scalars[argument] = loop.getRegionIterArg(next++);
    else
      pointers[argument] = pointer(op.getResult(i));
  }
  for (auto [i, base] : llvm::enumerate(inputs)) {
    BlockArgument row = body.getArgument(1 + carries + i);
    if (!base)
      continue;
    Value address = offset(base, multiply(pass, memory::bytesOf(row)));
    if (isScalar(row))
      scalars[row] = loadElement(b, loc, address, elementOf(row));
    else
      pointers[row] = address;
  }
  SmallVector<Value> yields;
  if (trip) {
    if (failed(lowerBlock(body)))
      return failure();
    Operation *yield = body.getTerminator();
    // Rows first: a row may be what a carry was before this pass.
    for (auto [i, value] : llvm::enumerate(yield->getOperands().drop_front(carries))) {
      Value address = offset(stacks[i], multiply(pass, memory::bytesOf(value)));
      if (isScalar(value)) {
        storeElement(b, loc, scalar(value), address);
        continue;
      }
      std::optional<memory::Place> place = memory::placeOf(op.getResult(carries + i));
      if (place)
        place->stride = memory::bytesOf(value);
      copyUnlessThere(value, place, address);
    }
    placeCarries(op, yield->getOperands().take_front(carries), body.getArguments().slice(1, carries));
    for (Value value : yield->getOperands().take_front(carries))
      if (isScalar(value))
        yields.push_back(scalar(value));
  } else {
    yields.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  }
  if (!yields.empty())
    scf::YieldOp::create(b, loc, yields);
  next = 0;
  for (size_t i = 0; i < carries; ++i)
    if (isScalar(op.getResult(i)))
      scalars[op.getResult(i)] = loop.getResult(next++);
  return success();
}

LogicalResult FunctionLowering::lowerWhile(nd::WhileOp op) {
  size_t carries = op.getInits().size();
  placeInits(op, op.getInits());
  // Carried: passes made, then the scalars. The condition's own value comes out last, to tell the limit from the end.
  SmallVector<Value> starts{i64(0)};
  SmallVector<Type> types{b.getI64Type()};
  for (Value init : op.getInits()) {
    if (!isScalar(init))
      continue;
    starts.push_back(scalar(init));
    types.push_back(elementOf(init));
  }
  SmallVector<Type> results(types);
  results.push_back(b.getI1Type());
  auto loop = scf::WhileOp::create(b, loc, results, starts);
  auto bind = [&](Block &block, ValueRange values) {
    unsigned next = 0;
    for (size_t i = 0; i < carries; ++i) {
      if (isScalar(block.getArgument(i)))
        scalars[block.getArgument(i)] = values[next++];
      else
        pointers[block.getArgument(i)] = pointer(op.getResult(i));
    }
  };
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, SmallVector<Location>(types.size(), loc));
  Block &condition = op.getCondition().front();
  bind(condition, before->getArguments().drop_front());
  if (failed(lowerBlock(condition)))
    return failure();
  Value go = scalar(condition.getTerminator()->getOperand(0));
  Value limit = i64(op.getLimit());
  Value room = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, before->getArgument(0), limit);
  SmallVector<Value> passed(before->getArguments());
  passed.push_back(go);
  scf::ConditionOp::create(b, loc, arith::AndIOp::create(b, loc, go, room), passed);
  Block *after = b.createBlock(&loop.getAfter(), {}, results, SmallVector<Location>(results.size(), loc));
  Block &body = op.getBody().front();
  bind(body, after->getArguments().drop_front().drop_back());
  if (failed(lowerBlock(body)))
    return failure();
  ValueRange next = body.getTerminator()->getOperands();
  placeCarries(op, next, body.getArguments());
  SmallVector<Value> yields{add(after->getArgument(0), i64(1))};
  for (Value value : next)
    if (isScalar(value))
      yields.push_back(scalar(value));
  scf::YieldOp::create(b, loc, yields);
  b.setInsertionPointAfter(loop);
  unsigned at = 1;
  for (size_t i = 0; i < carries; ++i)
    if (isScalar(op.getResult(i)))
      scalars[op.getResult(i)] = loop.getResult(at++);
  scalars[op.getResult(carries)] = loop.getResult(0);
  auto site = op->getAttrOfType<IntegerAttr>("site");
  auto branch = scf::IfOp::create(b, loc, loop.getResults().back(), /*withElseRegion=*/false);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  callFail(b, loc, context, DYN_LIMIT, site ? site.getInt() : -1, loop.getResult(0), i64(op.getLimit()));
  return success();
}

LogicalResult FunctionLowering::lowerCond(nd::CondOp op) {
  SmallVector<Type> types;
  for (Value result : op.getResults())
    if (isScalar(result))
      types.push_back(elementOf(result));
  auto branch = scf::IfOp::create(b, loc, types, scalar(op.getCondition()), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (auto [from, to] : {std::pair(&op.getThenRegion(), &branch.getThenRegion()),
                          std::pair(&op.getElseRegion(), &branch.getElseRegion())}) {
    Block &target = to->front();
    if (!target.empty())
      target.back().erase();
    b.setInsertionPointToEnd(&target);
    if (failed(lowerBlock(from->front())))
      return failure();
    SmallVector<Value> yields;
    for (auto [value, result] : llvm::zip(from->front().getTerminator()->getOperands(), op.getResults())) {
      if (isScalar(value))
        yields.push_back(scalar(value));
      else
        copyUnlessThere(value, memory::placeOf(result), pointer(result));
    }
    scf::YieldOp::create(b, loc, yields);
  }
  unsigned next = 0;
  for (Value result : op.getResults())
    if (isScalar(result))
      scalars[result] = branch.getResult(next++);
  return success();
}

} // namespace dyn::lower
