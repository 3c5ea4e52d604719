//===- LeafKernels.cpp - reductions over leaves, and spreading ------------===//
#include "passes/gpu/DeviceKernels.h"

#include "passes/lower/Abi.h"
#include "passes/lower/Elements.h"
#include "passes/memory/Places.h"

using namespace mlir;

namespace dyn::gpu {
namespace {

/// Of the device's global memory.
constexpr unsigned globalSpace = 1;

/// The ends of leaves, as a constant of the device.
Value offsetsOf(OpBuilder &b, Location loc, mlir::gpu::GPUModuleOp into, StringRef kernel, ArrayRef<int64_t> offsets) {
  std::string name = (kernel + "_offsets").str();
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(into.getBody());
    auto type = LLVM::LLVMArrayType::get(b.getI64Type(), offsets.size());
    LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                           b.getI64TensorAttr(offsets), /*alignment=*/8, globalSpace);
  }
  Type here = LLVM::LLVMPointerType::get(b.getContext(), globalSpace);
  Value address = LLVM::AddressOfOp::create(b, loc, here, name);
  return LLVM::AddrSpaceCastOp::create(b, loc, lower::pointerType(b.getContext()), address);
}

Value load(OpBuilder &b, Location loc, Value base, Type element, Value index) {
  return lower::loadElement(b, loc, lower::elementPointer(b, loc, base, element, index), element);
}

Value add(OpBuilder &b, Location loc, Value x, int64_t y) {
  return arith::AddIOp::create(b, loc, x, lower::i64Constant(b, loc, y));
}

/// The sum over from, from + step, … below `to`.
Value sumOver(OpBuilder &b, Location loc, Value from, Value to, int64_t step, nd::ReduceKind kind, Value start,
              Value base) {
  auto loop = scf::ForOp::create(b, loc, from, to, lower::i64Constant(b, loc, step), ValueRange{start},
                                 [&](OpBuilder &inside, Location, Value i, ValueRange sum) {
                                   Value x = load(inside, loc, base, start.getType(), i);
                                   scf::YieldOp::create(inside, loc, lower::reduceStep(inside, loc, kind, sum[0], x));
                                 });
  return loop.getResult(0);
}

} // namespace

/// As FunctionLowering::lowerSegmentReduce: whole groups of vectors side by side, then what is left, one by one.
Mapped mapSegmentReduce(nd::SegmentReduceOp op, mlir::gpu::GPUModuleOp into, StringRef name, int64_t hostVectorBytes) {
  OpBuilder b(op.getContext());
  Location loc = op.getLoc();
  Type element = lower::elementOf(op), pointer = lower::pointerType(b.getContext());
  Team team{element.isInteger(1) ? 1 : hostVectorBytes / memory::elementBytes(element), 4};
  Mapped mapped;
  mapped.blocks = op.getOffsets().size() - 1;
  mapped.threads = team.threads();
  mapped.kernel = startKernel(b, loc, into, name, {pointer, pointer}, mapped.threads);
  Value from = mapped.kernel.getArgument(0), to = mapped.kernel.getArgument(1);
  Value thread = threadNumber(b, loc), leaf = blockNumber(b, loc);
  Value offsets = offsetsOf(b, loc, into, name, op.getOffsets());
  Value first = load(b, loc, offsets, b.getI64Type(), leaf);
  Value end = load(b, loc, offsets, b.getI64Type(), add(b, loc, leaf, 1));
  Value count = arith::SubIOp::create(b, loc, end, first);
  Value grouped = arith::AndIOp::create(b, loc, count, lower::i64Constant(b, loc, -team.threads()));
  Value whole = arith::AddIOp::create(b, loc, first, grouped);
  nd::ReduceKind kind = op.getKind();
  Value identity = lower::reduceIdentity(b, loc, kind, element);
  Value begin = arith::AddIOp::create(b, loc, first, thread);
  Value mine = sumOver(b, loc, begin, whole, team.threads(), kind, identity, from);
  Value total = reduceTeam(b, loc, mapped.kernel, thread, team, kind, mine);
  Value isFirst =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, thread, lower::i64Constant(b, loc, 0));
  scf::IfOp::create(b, loc, isFirst, [&](OpBuilder &inside, Location) {
    Value all = sumOver(inside, loc, whole, end, 1, kind, total, from);
    lower::storeElement(inside, loc, all, lower::elementPointer(inside, loc, to, element, leaf));
    scf::YieldOp::create(inside, loc);
  });
  mlir::gpu::ReturnOp::create(b, loc);
  return mapped;
}

/// A thread finds the leaf of its element by bisection, in as many steps for every element.
Mapped mapSegmentSpread(nd::SegmentSpreadOp op, mlir::gpu::GPUModuleOp into, StringRef name) {
  OpBuilder b(op.getContext());
  Location loc = op.getLoc();
  Type element = lower::elementOf(op), pointer = lower::pointerType(b.getContext());
  int64_t count = nd::typeOf(op.getResult()).getNumElements(), leaves = op.getOffsets().size() - 1;
  Mapped mapped;
  mapped.blocks = mapBlocks(count);
  mapped.threads = mapThreads;
  mapped.kernel = startKernel(b, loc, into, name, {pointer, pointer}, mapped.threads);
  Value from = mapped.kernel.getArgument(0), to = mapped.kernel.getArgument(1);
  Value thread = threadNumber(b, loc), block = blockNumber(b, loc);
  Value offsets = offsetsOf(b, loc, into, name, op.getOffsets());
  Value base = arith::MulIOp::create(b, loc, block, lower::i64Constant(b, loc, mapThreads));
  Value begin = arith::AddIOp::create(b, loc, base, thread);
  Value end = lower::i64Constant(b, loc, count), stride = lower::i64Constant(b, loc, mapped.blocks * mapThreads);
  scf::ForOp::create(b, loc, begin, end, stride, ValueRange(),
                     [&](OpBuilder &inside, Location, Value i, ValueRange) {
                       // The last leaf that begins at or before i.
                       Value leaf = lower::i64Constant(inside, loc, 0);
                       for (int64_t step = llvm::PowerOf2Ceil(leaves) / 2; step >= 1; step /= 2) {
                         Value last = lower::i64Constant(inside, loc, leaves - 1);
                         Value next = arith::MinSIOp::create(inside, loc, add(inside, loc, leaf, step), last);
                         Value start = load(inside, loc, offsets, inside.getI64Type(), next);
                         Value before =
                             arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::sle, start, i);
                         leaf = arith::SelectOp::create(inside, loc, before, next, leaf);
                       }
                       Value x = load(inside, loc, from, element, leaf);
                       lower::storeElement(inside, loc, x, lower::elementPointer(inside, loc, to, element, i));
                       scf::YieldOp::create(inside, loc);
                     });
  mlir::gpu::ReturnOp::create(b, loc);
  return mapped;
}

} // namespace dyn::gpu
