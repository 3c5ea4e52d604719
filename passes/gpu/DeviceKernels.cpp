//===- DeviceKernels.cpp - what all kernels of a device share -------------===//
#include "passes/gpu/DeviceKernels.h"

#include "passes/lower/Elements.h"

using namespace mlir;

namespace dyn::gpu {

/// A multiple of the processors of the devices at hand (108 to 132), eight blocks on each.
constexpr int64_t mostBlocks = 1056;

int64_t mapBlocks(int64_t elements) {
  return std::clamp<int64_t>(llvm::divideCeil(elements, mapThreads), 1, mostBlocks);
}

mlir::gpu::GPUFuncOp startKernel(OpBuilder &b, Location loc, mlir::gpu::GPUModuleOp into, StringRef name,
                                 ArrayRef<Type> arguments, int64_t threads) {
  b.setInsertionPointToEnd(into.getBody());
  auto kernel = mlir::gpu::GPUFuncOp::create(b, loc, name, b.getFunctionType(arguments, {}));
  kernel->setAttr(mlir::gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  kernel.setKnownBlockSize(std::array<int32_t, 3>{int32_t(threads), 1, 1});
  b.setInsertionPointToEnd(&kernel.getBody().front());
  return kernel;
}

Value threadNumber(OpBuilder &b, Location loc) {
  Value id = mlir::gpu::ThreadIdOp::create(b, loc, mlir::gpu::Dimension::x);
  return arith::IndexCastUIOp::create(b, loc, b.getI64Type(), id);
}

Value blockNumber(OpBuilder &b, Location loc) {
  Value id = mlir::gpu::BlockIdOp::create(b, loc, mlir::gpu::Dimension::x);
  return arith::IndexCastUIOp::create(b, loc, b.getI64Type(), id);
}

Value reduceTeam(OpBuilder &b, Location loc, mlir::gpu::GPUFuncOp kernel, Value thread, Team team, nd::ReduceKind kind,
                 Value value) {
  auto space = mlir::gpu::AddressSpaceAttr::get(b.getContext(), mlir::gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get({team.threads()}, value.getType(), MemRefLayoutAttrInterface(), space);
  Value shared = kernel.addWorkgroupAttribution(type, loc);
  auto slot = [&](OpBuilder &at, Value number) -> Value {
    return arith::IndexCastUIOp::create(at, loc, at.getIndexType(), number);
  };
  memref::StoreOp::create(b, loc, value, shared, ValueRange{slot(b, thread)});
  // Threads whose number, within `group`, is below `active` add what lies `step` further on.
  auto halve = [&](int64_t group, int64_t active, int64_t step) {
    mlir::gpu::BarrierOp::create(b, loc);
    Value within = arith::AndIOp::create(b, loc, thread, lower::i64Constant(b, loc, group - 1));
    Value works =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, within, lower::i64Constant(b, loc, active));
    scf::IfOp::create(b, loc, works, [&](OpBuilder &inside, Location) {
      Value mine = slot(inside, thread);
      Value other = slot(inside, arith::AddIOp::create(inside, loc, thread, lower::i64Constant(inside, loc, step)));
      Value x = memref::LoadOp::create(inside, loc, shared, ValueRange{mine});
      Value y = memref::LoadOp::create(inside, loc, shared, ValueRange{other});
      memref::StoreOp::create(inside, loc, lower::reduceStep(inside, loc, kind, x, y), shared, ValueRange{mine});
      scf::YieldOp::create(inside, loc);
    });
  };
  // Accumulators by neighbours, then lanes by halves.
  for (int64_t step = team.lanes; step < team.threads(); step *= 2)
    halve(2 * step, team.lanes, step);
  for (int64_t step = team.lanes / 2; step >= 1; step /= 2)
    halve(llvm::PowerOf2Ceil(team.threads()), step, step);
  mlir::gpu::BarrierOp::create(b, loc);
  return memref::LoadOp::create(b, loc, shared, ValueRange{arith::ConstantIndexOp::create(b, loc, 0)});
}

} // namespace dyn::gpu
