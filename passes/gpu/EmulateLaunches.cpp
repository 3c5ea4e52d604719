//===- EmulateLaunches.cpp - kernels run on the host, for tests -----------===//
#include "passes/gpu/Passes.h"

#include "passes/lower/Abi.h"
#include "passes/lower/Elements.h"

#include "mlir/IR/IRMapping.h"

namespace dyn::gpu {
#define GEN_PASS_DEF_EMULATELAUNCHESPASS
#include "passes/gpu/Passes.h.inc"
} // namespace dyn::gpu

using namespace mlir;

namespace dyn::gpu {
namespace {

/// Between two barriers.
using Phase = SmallVector<Operation *>;

/// One kernel as a function (arguments…, blocks, threads).
class Emulation {
public:
  Emulation(ModuleOp module, mlir::gpu::GPUFuncOp kernel)
      : module(module), kernel(kernel), loc(kernel.getLoc()), b(module.getContext()) {}

  LogicalResult run() {
    if (failed(split()))
      return failure();
    findKept();
    start();
    auto overBlocks = loopTo(entry->getArgument(arguments()));
    block = overBlocks.getInductionVar();
    b.setInsertionPoint(overBlocks.getBody()->getTerminator());
    for (size_t i = 0; i < phases.size(); ++i) {
      auto overThreads = loopTo(entry->getArgument(arguments() + 1));
      OpBuilder::InsertionGuard guard(b);
      thread = overThreads.getInductionVar();
      b.setInsertionPoint(overThreads.getBody()->getTerminator());
      emitPhase(i);
    }
    b.setInsertionPointToEnd(entry);
    LLVM::ReturnOp::create(b, loc, ValueRange());
    return success();
  }

private:
  unsigned arguments() { return kernel.getFunctionType().getNumInputs(); }

  LogicalResult split() {
    phases.emplace_back();
    for (Operation &op : kernel.getBody().front().without_terminator()) {
      if (isa<mlir::gpu::BarrierOp>(op)) {
        phases.emplace_back();
        continue;
      }
      WalkResult nested = op.walk([](mlir::gpu::BarrierOp) { return WalkResult::interrupt(); });
      if (nested.wasInterrupted())
        return op.emitError("a barrier inside of a loop or a branch cannot be emulated");
      phaseOf[&op] = phases.size() - 1;
      phases.back().push_back(&op);
    }
    return success();
  }

  /// What a phase makes and a later one reads.
  void findKept() {
    for (Phase &phase : phases)
      for (Operation *op : phase)
        for (Value result : op->getResults())
          for (Operation *user : result.getUsers())
            if (phaseOf.lookup(kernel.getBody().front().findAncestorOpInBlock(*user)) != phaseOf.lookup(op))
              kept.insert(result);
  }

  void start() {
    SmallVector<Type> types(kernel.getFunctionType().getInputs());
    types.append(2, b.getI64Type());
    b.setInsertionPointToEnd(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), types);
    auto function = LLVM::LLVMFuncOp::create(b, loc, kernel.getName(), type, LLVM::Linkage::Internal);
    entry = function.addEntryBlock(b);
    b.setInsertionPointToEnd(entry);
    for (unsigned i = 0; i < arguments(); ++i)
      mapping.map(kernel.getArgument(i), entry->getArgument(i));
    for (BlockArgument shared : kernel.getWorkgroupAttributions()) {
      auto sharedType = cast<MemRefType>(shared.getType());
      auto plain = MemRefType::get(sharedType.getShape(), sharedType.getElementType());
      mapping.map(shared, memref::AllocaOp::create(b, loc, plain));
    }
    // Constants have no phase; what else is kept has a slot for each thread.
    int64_t threads = kernel.getKnownBlockSize() ? (*kernel.getKnownBlockSize())[0] : 1024;
    for (Value value : kept) {
      if (isFree(value.getDefiningOp()))
        emitOp(value.getDefiningOp());
      else if (!isId(value.getDefiningOp()))
        slots[value] = LLVM::AllocaOp::create(b, loc, lower::pointerType(b.getContext()), storedType(value),
                                              lower::i64Constant(b, loc, threads), 8);
    }
  }

  static bool isFree(Operation *op) { return op->getNumOperands() == 0 && isMemoryEffectFree(op) && !isId(op); }
  static bool isId(Operation *op) { return isa<mlir::gpu::ThreadIdOp, mlir::gpu::BlockIdOp>(op); }
  Type storedType(Value value) { return value.getType().isIndex() ? b.getI64Type() : value.getType(); }

  scf::ForOp loopTo(Value count) {
    Value end = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), count);
    Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
    return scf::ForOp::create(b, loc, zero, end, one);
  }

  void emitPhase(size_t number) {
    DenseSet<Value> loaded;
    auto fetch = [&](Value value) {
      auto slot = slots.find(value);
      if (slot == slots.end() || phaseOf.lookup(value.getDefiningOp()) == number || !loaded.insert(value).second)
        return;
      Value x = LLVM::LoadOp::create(b, loc, storedType(value), slotOf(slot->second, value));
      if (value.getType().isIndex())
        x = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), x);
      mapping.map(value, x);
    };
    for (Operation *op : phases[number]) {
      op->walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), fetch); });
      if (!(isFree(op) && kept.contains(op->getResult(0))))
        emitOp(op);
      for (Value result : op->getResults())
        if (auto slot = slots.find(result); slot != slots.end())
          keep(result, slot->second);
    }
  }

  void keep(Value value, Value slot) {
    Value x = mapping.lookup(value);
    if (value.getType().isIndex())
      x = arith::IndexCastUIOp::create(b, loc, b.getI64Type(), x);
    LLVM::StoreOp::create(b, loc, x, slotOf(slot, value));
  }

  Value slotOf(Value slots, Value value) {
    Value number = arith::IndexCastUIOp::create(b, loc, b.getI64Type(), thread);
    return LLVM::GEPOp::create(b, loc, lower::pointerType(b.getContext()), storedType(value), slots, ValueRange{number});
  }

  /// The op as it is, but for what only a device has: ids, and the kinds of memory.
  void emitOp(Operation *op) {
    if (auto address = dyn_cast<LLVM::AddressOfOp>(op))
      return mapping.map(address.getResult(), LLVM::AddressOfOp::create(b, loc, lower::pointerType(b.getContext()),
                                                                        address.getGlobalName()));
    if (auto cast = dyn_cast<LLVM::AddrSpaceCastOp>(op))
      return mapping.map(cast.getResult(), mapping.lookup(cast.getArg()));
    if (isId(op))
      return mapping.map(op->getResult(0), isa<mlir::gpu::ThreadIdOp>(op) ? thread : block);
    b.clone(*op, mapping);
  }

  ModuleOp module;
  mlir::gpu::GPUFuncOp kernel;
  Location loc;
  OpBuilder b;
  SmallVector<Phase> phases;
  DenseMap<Operation *, size_t> phaseOf;
  llvm::SetVector<Value> kept;
  DenseMap<Value, Value> slots;
  IRMapping mapping;
  Block *entry = nullptr;
  Value block, thread;
};

struct EmulateLaunches : impl::EmulateLaunchesPassBase<EmulateLaunches> {
  using EmulateLaunchesPassBase::EmulateLaunchesPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto kernels : llvm::make_early_inc_range(module.getOps<mlir::gpu::GPUModuleOp>())) {
      for (Operation &op : *kernels.getBody()) {
        if (auto global = dyn_cast<LLVM::GlobalOp>(op))
          copyGlobal(global);
        if (auto kernel = dyn_cast<mlir::gpu::GPUFuncOp>(op))
          if (failed(Emulation(module, kernel).run()))
            return signalPassFailure();
      }
      module.walk([](mlir::gpu::LaunchFuncOp launch) { callFunction(launch); });
      kernels.erase();
    }
    module->removeAttr(mlir::gpu::GPUDialect::getContainerModuleAttrName());
  }

  void copyGlobal(LLVM::GlobalOp global) {
    OpBuilder b = OpBuilder::atBlockBegin(getOperation().getBody());
    auto copy = cast<LLVM::GlobalOp>(b.clone(*global));
    copy.setAddrSpace(0);
  }

  static void callFunction(mlir::gpu::LaunchFuncOp launch) {
    OpBuilder b(launch);
    SmallVector<Value> operands(launch.getKernelOperands());
    for (Value size : {launch.getGridSizeX(), launch.getBlockSizeX()})
      operands.push_back(arith::IndexCastUIOp::create(b, launch.getLoc(), b.getI64Type(), size));
    LLVM::CallOp::create(b, launch.getLoc(), TypeRange(), launch.getKernelName(), operands);
    launch.erase();
  }
};

} // namespace
} // namespace dyn::gpu
