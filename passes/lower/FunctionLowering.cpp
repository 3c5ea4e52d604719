//===- FunctionLowering.cpp - a function of effects becomes code ----------===//
#include "passes/lower/FunctionLowering.h"

#include "passes/fuse/Clusters.h"
#include "passes/lower/Abi.h"
#include "passes/lower/Cost.h"
#include "passes/lower/Elements.h"
#include "passes/lower/KernelEmitter.h"
#include "passes/lower/ProductEmitter.h"
#include "runtime/abi.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using dyn::kernel::Form;
using dyn::memory::isScalar;

namespace dyn::lower {

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

int64_t KernelTable::lanesOf(kernel::FusedOp op) const { return KernelEmitter::lanesOf(op, vectorBytes); }

LLVM::LLVMFuncOp KernelTable::functionFor(kernel::FusedOp op) {
  for (auto &[other, function] : known)
    if (KernelEmitter::isSameCode(other, op))
      return function;
  std::string name = "kernel_" + std::to_string(known.size());
  known.push_back({op, KernelEmitter(module, op, name, vectorBytes).emit()});
  return known.back().second;
}

LLVM::LLVMFuncOp KernelTable::functionFor(kernel::ProductOp op) {
  for (auto &[other, function] : products)
    if (isSameProduct(other, op))
      return function;
  std::string name = "product_" + std::to_string(products.size());
  products.push_back({op, emitProduct(module, op, name, vectorBytes)});
  return products.back().second;
}

//===----------------------------------------------------------------------===//
// Values and addresses
//===----------------------------------------------------------------------===//

Value FunctionLowering::i64(int64_t value) { return i64Constant(b, loc, value); }
Value FunctionLowering::i32(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value)));
}
Value FunctionLowering::null() { return LLVM::ZeroOp::create(b, loc, pointerType(b.getContext())); }

Value FunctionLowering::offset(Value base, Value bytes) {
  return LLVM::GEPOp::create(b, loc, pointerType(b.getContext()), b.getI8Type(), base, ValueRange{bytes});
}
Value FunctionLowering::offset(Value base, int64_t bytes) { return bytes ? offset(base, i64(bytes)) : base; }

Value FunctionLowering::arenaBase(int64_t arena) {
  Value &base = arenas[arena];
  if (!base) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&function.getBody().front());
    base = loadArena(b, loc, context, arena);
  }
  return base;
}

Value FunctionLowering::stack(Type type, int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.getBody().front());
  Value size = i64Constant(b, loc, count);
  return LLVM::AllocaOp::create(b, loc, pointerType(b.getContext()), type, size, 16);
}

Value FunctionLowering::pointer(Value value) {
  memory::View view = memory::viewOf(value);
  if (Value known = pointers.lookup(view.base))
    return offset(known, view.bytes);
  auto result = cast<OpResult>(view.base);
  Operation *op = result.getOwner();
  if (auto constant = dyn_cast<nd::ConstantOp>(op))
    return offset(globalConstant(constant), view.bytes);
  std::optional<memory::Place> place = memory::placeOf(value);
  assert(place && "an array is made at a place");
  Value address = offset(arenaBase(place->arena), place->offset);
  if (place->stride == 0)
    return address;
  Value pass = passOf.lookup(op->getParentOfType<nd::ScanOp>());
  return offset(address, multiply(pass, place->stride));
}

void FunctionLowering::copy(Value to, Value from, int64_t bytes) {
  if (bytes)
    LLVM::MemcpyOp::create(b, loc, to, from, i64(bytes), /*isVolatile=*/false);
}

void FunctionLowering::copyUnlessThere(Value value, std::optional<memory::Place> place, Value to) {
  std::optional<memory::Place> from = memory::placeOf(value);
  if (from && place && *from == *place)
    return;
  copy(to, pointer(value), memory::bytesOf(value));
}

Value FunctionLowering::globalConstant(nd::ConstantOp op) {
  if (Value known = pointers.lookup(op.getResult()))
    return known;
  auto dense = cast<DenseElementsAttr>(op.getValue());
  // Booleans are bytes in memory.
  if (dense.getElementType().isInteger(1)) {
    SmallVector<int8_t> bytes;
    for (bool bit : dense.getValues<bool>())
      bytes.push_back(bit);
    dense = DenseElementsAttr::get(RankedTensorType::get(dense.getType().getShape(), b.getI8Type()),
                                   ArrayRef<int8_t>(bytes));
  }
  int64_t count = dense.getNumElements();
  std::string name = "data_" + std::to_string(llvm::range_size(module.getOps<LLVM::GlobalOp>()));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto flat = dense.reshape(RankedTensorType::get({count}, dense.getElementType()));
    LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(dense.getElementType(), count), /*isConstant=*/true,
                           LLVM::Linkage::Internal, name, flat, /*alignment=*/64);
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.getBody().front());
  return pointers[op.getResult()] = LLVM::AddressOfOp::create(b, loc, pointerType(b.getContext()), name);
}

Value FunctionLowering::globalNumbers(ArrayRef<int64_t> numbers) {
  std::string name = "data_" + std::to_string(llvm::range_size(module.getOps<LLVM::GlobalOp>()));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(b.getI64Type(), numbers.size());
    LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                           b.getI64TensorAttr(numbers), /*alignment=*/64);
  }
  return LLVM::AddressOfOp::create(b, loc, pointerType(b.getContext()), name);
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

LogicalResult FunctionLowering::lower(func::FuncOp source) {
  loc = source.getLoc();
  Type pointer = pointerType(b.getContext());
  std::string name = source.getName().str();
  source.setName(name + ".source");
  b.setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {pointer});
  function = LLVM::LLVMFuncOp::create(b, loc, name, type);
  Block *entry = function.addEntryBlock(b);
  context = entry->getArgument(0);
  // A block of its own after the entry: addresses of arenas and stack memory go to the entry, whenever they are asked
  // for, and stand before all uses.
  Block *body = b.createBlock(&function.getBody());
  part = source->getAttrOfType<IntegerAttr>("part");
  if (part)
    callPart(b, loc, "dyn_part_begin", context, part);
  if (failed(lowerBlock(source.getBody().front())))
    return failure();
  leave();
  b.setInsertionPointToEnd(entry);
  cf::BranchOp::create(b, loc, body);
  return success();
}

LogicalResult FunctionLowering::lowerBlock(Block &block) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    loc = op.getLoc();
    if (failed(lowerOp(&op)))
      return failure();
  }
  return success();
}

LogicalResult FunctionLowering::lowerOp(Operation *op) {
  auto timed = op->getAttrOfType<IntegerAttr>("part");
  if (timed)
    callPart(b, loc, "dyn_part_begin", context, timed);
  if (failed(lowerPlainOp(op)))
    return failure();
  if (timed)
    callPart(b, loc, "dyn_part_end", context, timed);
  return success();
}

LogicalResult FunctionLowering::lowerPlainOp(Operation *op) {
  LogicalResult done = success();
  bool known = true;
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](kernel::FusedOp fused) { lowerFused(fused); })
      .Case([&](kernel::ProductOp product) { lowerProduct(product); })
      .Case([&](kernel::LaunchOp launch) { lowerLaunch(launch); })
      .Case([&](kernel::CallOp call) { lowerCall(call); })
      .Case([&](run::NumberOp number) { scalars[number] = loadNumber(b, loc, context, number.getIndex()); })
      .Case([&](run::ClockOp clock) { scalars[clock] = loadClock(b, loc, context, int64_t(clock.getKind())); })
      .Case([&](run::CountOp count) { scalars[count] = loadBatchCount(b, loc, context, count.getFeed()); })
      .Case([&](run::RowsOp rows) { pointers[rows] = loadBatchRows(b, loc, context, rows.getFeed()); })
      .Case([&](run::ReadOp read) { lowerRead(read); })
      .Case([&](run::WriteOp write) { lowerWrite(write); })
      .Case([&](run::EmitOp emit) { lowerEmit(emit); })
      .Case([&](run::GuardOp guard) { lowerGuard(guard); })
      .Case([&](nd::ScanOp scan) { done = lowerScan(scan); })
      .Case([&](nd::WhileOp loop) { done = lowerWhile(loop); })
      .Case([&](nd::CondOp cond) { done = lowerCond(cond); })
      .Case([&](nd::ConcatOp concat) { lowerConcat(concat); })
      .Case([&](nd::ScatterOp scatter) { lowerScatter(scatter); })
      .Case([&](nd::CumulateOp cumulate) { lowerCumulate(cumulate); })
      .Case([&](nd::ArgReduceOp reduce) { lowerArgReduce(reduce); })
      .Case([&](nd::DrawOp draw) { lowerDraw(draw); })
      .Case([&](nd::SegmentReduceOp reduce) { lowerSegmentReduce(reduce); })
      .Case([&](nd::SegmentSpreadOp spreadOp) { lowerSegmentSpread(spreadOp); })
      .Case([&](nd::UnwindowOp unwindow) { lowerUnwindow(unwindow); })
      .Default([&](Operation *) { known = false; });
  if (known)
    return done;
  if (op->getNumResults() == 1 && isScalar(op->getResult(0)))
    return lowerScalar(op);
  // Views, and constants whose bytes are a global: nothing happens here.
  if (fuse::isView(op) || isa<nd::ConstantOp, nd::ReshapeOp>(op))
    return success();
  return op->emitOpError("has no lowering here");
}

LogicalResult FunctionLowering::lowerScalar(Operation *op) {
  Value result = op->getResult(0);
  if (auto constant = dyn_cast<nd::ConstantOp>(op)) {
    scalars[result] = emitSplat(b, constant);
    return success();
  }
  if (op->hasTrait<Elementwise>()) {
    auto operands = llvm::map_to_vector(op->getOperands(), [&](Value v) { return scalar(v); });
    scalars[result] = emitElement(b, op, operands);
    return success();
  }
  if (auto gather = dyn_cast<nd::GatherOp>(op)) {
    lowerScalarGather(gather);
    return success();
  }
  if (!isa<nd::ReshapeOp, nd::BroadcastOp, nd::TransposeOp, nd::SliceOp, nd::PadOp>(op))
    return op->emitOpError("has no lowering to a scalar here");
  Value input = op->getOperand(0);
  scalars[result] = isScalar(input) ? scalar(input) : loadElement(b, loc, pointer(input), elementOf(result));
  return success();
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

void FunctionLowering::lowerRead(run::ReadOp op) {
  int64_t bytes = op.getOffset() * memory::elementBytes(op.getType());
  if (isScalar(op)) {
    scalars[op] = loadElement(b, loc, offset(arenaBase(op.getArena()), bytes), elementOf(op));
    return;
  }
  if (memory::placeOfResult(op, 0))
    copy(pointer(op), offset(arenaBase(op.getArena()), bytes), memory::bytesOf(op));
}

void FunctionLowering::lowerWrite(run::WriteOp op) {
  Value value = op.getValue();
  memory::Place place{int64_t(op.getArena()), int64_t(op.getOffset()) * memory::elementBytes(value.getType())};
  Value to = offset(arenaBase(place.arena), place.offset);
  if (isScalar(value))
    return storeElement(b, loc, scalar(value), to);
  copyUnlessThere(value, place, to);
}

void FunctionLowering::lowerEmit(run::EmitOp op) {
  Value value = op.getValue();
  Value address;
  if (isScalar(value)) {
    address = stack(b.getI64Type(), 1);
    storeElement(b, loc, scalar(value), address);
  } else {
    address = pointer(value);
  }
  callRuntime(b, loc, "dyn_emit", {context, i64(op.getMetric()), i32(elementCode(elementOf(value))), address});
}

void FunctionLowering::lowerGuard(run::GuardOp op) {
  Value value = op.getValue();
  Type element = elementOf(value);
  Value seen;
  if (isScalar(value)) {
    seen = scalar(value);
  } else {
    // x * 0 is nan exactly when x is not finite, and nan stays in a sum.
    Value zero = reduceIdentity(b, loc, nd::ReduceKind::sum, element);
    Value base = pointer(value);
    seen = fold(i64(0), i64(nd::typeOf(value).getNumElements()), 1, zero, [&](Value i, ValueRange sum) {
      Value x = arith::MulFOp::create(b, loc, load(base, element, i), zero);
      return SmallVector<Value>{arith::AddFOp::create(b, loc, sum[0], x)};
    })[0];
  }
  Value wide = element.isF64() ? seen : arith::ExtFOp::create(b, loc, b.getF64Type(), seen).getResult();
  Value infinity = reduceIdentity(b, loc, nd::ReduceKind::min, b.getF64Type());
  Value size = math::AbsFOp::create(b, loc, wide);
  Value bad = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UGE, size, infinity);
  leaveIf(bad, [&] {
    Value bits = arith::BitcastOp::create(b, loc, b.getI64Type(), wide);
    callFail(b, loc, context, DYN_NOT_FINITE, op.getSite(), bits, i64(0));
  });
}

void FunctionLowering::leaveIf(Value failed, llvm::function_ref<void()> before) {
  if (b.getInsertionBlock()->getParentOp() != function) {
    auto branch = scf::IfOp::create(b, loc, failed, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    return before();
  }
  Block *from = b.getInsertionBlock();
  Block *out = b.createBlock(&function.getBody());
  before();
  leave();
  Block *next = b.createBlock(&function.getBody());
  b.setInsertionPointToEnd(from);
  cf::CondBranchOp::create(b, loc, failed, out, ValueRange(), next, ValueRange());
  b.setInsertionPointToEnd(next);
}

void FunctionLowering::leave() {
  if (part)
    callPart(b, loc, "dyn_part_end", context, part);
  LLVM::ReturnOp::create(b, loc, ValueRange());
}

void FunctionLowering::leaveIfFailed() {
  Value ok = loadIsOk(b, loc, context);
  Value bad = arith::XOrIOp::create(b, loc, ok, boolConstant(b, loc, true));
  if (b.getInsertionBlock()->getParentOp() == function)
    leaveIf(bad, [] {});
}

//===----------------------------------------------------------------------===//
// Kernels and products
//===----------------------------------------------------------------------===//

Value FunctionLowering::closureOf(kernel::FusedOp op) {
  int32_t slot = 0;
  Value closure = stack(b.getI64Type(), 1 + op.getInputs().size() + op.getNumResults());
  auto put = [&](Value value) {
    Value address = LLVM::GEPOp::create(b, loc, pointerType(b.getContext()), b.getI64Type(), closure,
                                        ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(slot++)});
    if (isa<LLVM::LLVMPointerType>(value.getType()))
      LLVM::StoreOp::create(b, loc, value, address);
    else
      storeElement(b, loc, value, address);
  };
  put(context);
  for (Value input : op.getInputs())
    put(isScalar(input) ? scalar(input) : pointer(input));
  for (Value result : op.getResults())
    put(pointer(result));
  return closure;
}

void FunctionLowering::lowerFused(kernel::FusedOp op) {
  // An epilogue ran with its product.
  if (!op.getEpilogue()) {
    LLVM::LLVMFuncOp kernel = kernels.functionFor(op);
    int64_t extent = KernelEmitter::extentOf(op);
    Value closure = closureOf(op);
    if (int64_t grain = grainOf(op, extent, kernels.lanesOf(op))) {
      Value address = LLVM::AddressOfOp::create(b, loc, kernel);
      callRuntime(b, loc, "dyn_parallel_for", {context, address, closure, i64(extent), i64(grain)});
    } else if (extent) {
      LLVM::CallOp::create(b, loc, kernel, ValueRange{closure, i64(0), i64(extent)});
    }
  }
  finishTotals(op);
  bool checks = llvm::any_of(op.getBody().getOps(), [](Operation &inner) { return isa<nd::GatherOp>(inner); });
  if (checks)
    leaveIfFailed();
}

/// Results of blocks, in the order of the blocks; sums of f32 in f64.
void FunctionLowering::finishTotals(kernel::FusedOp op) {
  if (op.getForm() != Form::total)
    return;
  int64_t blocks = memory::totalShapeOf(op).blocks;
  auto yield = cast<kernel::YieldOp>(op.getBody().front().getTerminator());
  for (auto [result, yielded] : llvm::zip(op.getResults(), yield.getValues())) {
    if (!isScalar(result))
      continue;
    nd::ReduceKind kind = yielded.getDefiningOp<nd::ReduceOp>().getKind();
    Type element = elementOf(result);
    Value base = pointer(result);
    if (blocks == 1) {
      scalars[result] = load(base, element, i64(0));
      continue;
    }
    bool widen = element.isF32() && kind == nd::ReduceKind::sum;
    Type type = widen ? b.getF64Type() : element;
    Value total = fold(i64(0), i64(blocks), 1, reduceIdentity(b, loc, kind, type), [&](Value i, ValueRange sum) {
      Value x = load(base, element, i);
      if (widen)
        x = arith::ExtFOp::create(b, loc, type, x);
      return SmallVector<Value>{reduceStep(b, loc, kind, sum[0], x)};
    })[0];
    scalars[result] = widen ? arith::TruncFOp::create(b, loc, element, total).getResult() : total;
  }
}

void FunctionLowering::lowerProduct(kernel::ProductOp op) {
  auto fused = dyn_cast_or_null<kernel::FusedOp>(op->getNextNode());
  bool hasEpilogue = fused && fused.getEpilogue();
  if (isWrittenOut(op, kernels.getVectorBytes())) {
    LLVM::CallOp::create(b, loc, kernels.functionFor(op),
                         ValueRange{pointer(op.getA()), pointer(op.getB()), pointer(op.getResult())});
    kernel::ProductShape shape = kernel::shapeOf(op);
    if (hasEpilogue)
      LLVM::CallOp::create(b, loc, kernels.functionFor(fused),
                           ValueRange{closureOf(fused), i64(0), i64(shape.batch * shape.m)});
    return;
  }
  Value epilogue = null(), closure = null();
  if (hasEpilogue) {
    closure = closureOf(fused);
    epilogue = LLVM::AddressOfOp::create(b, loc, kernels.functionFor(fused));
  }
  callRuntime(b, loc, "dyn_matmul",
              {context, i64(op.getProduct()), pointer(op.getA()), pointer(op.getB()), pointer(op.getResult()), epilogue,
               closure});
}

} // namespace dyn::lower
