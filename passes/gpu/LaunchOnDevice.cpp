//===- LaunchOnDevice.cpp - launches become calls of the runtime ----------===//
#include "passes/gpu/Passes.h"

#include "passes/lower/Abi.h"
#include "passes/lower/Elements.h"

namespace dyn::gpu {
#define GEN_PASS_DEF_LAUNCHONDEVICEPASS
#include "passes/gpu/Passes.h.inc"
} // namespace dyn::gpu

using namespace mlir;

namespace dyn::gpu {
namespace {

struct LaunchOnDevice : impl::LaunchOnDevicePassBase<LaunchOnDevice> {
  using LaunchOnDevicePassBase::LaunchOnDevicePassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    lower::declareRuntime(module);
    for (auto binary : llvm::make_early_inc_range(module.getOps<mlir::gpu::BinaryOp>())) {
      auto object = cast<mlir::gpu::ObjectAttr>(binary.getObjects()[0]);
      addText((binary.getName() + "_code").str(), object.getObject().getValue());
      binary.erase();
    }
    module.walk([&](mlir::gpu::LaunchFuncOp launch) { lowerLaunch(launch); });
    module->removeAttr(mlir::gpu::GPUDialect::getContainerModuleAttrName());
  }

private:
  /// A text of the object that ends with a zero; known by its name.
  void addText(const std::string &name, StringRef text) {
    if (getOperation().lookupSymbol(name))
      return;
    OpBuilder b = OpBuilder::atBlockBegin(getOperation().getBody());
    std::string whole = text.str() + '\0';
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), whole.size());
    LLVM::GlobalOp::create(b, getOperation().getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                           b.getStringAttr(whole));
  }

  void lowerLaunch(mlir::gpu::LaunchFuncOp launch) {
    Location loc = launch.getLoc();
    auto function = launch->getParentOfType<LLVM::LLVMFuncOp>();
    OpBuilder b(launch);
    Type pointer = lower::pointerType(b.getContext());
    std::string kernel = launch.getKernelName().str();
    addText(kernel + "_name", kernel);
    // Slots for the arguments and their addresses, made once where the function begins.
    ValueRange operands = launch.getKernelOperands();
    OpBuilder start = OpBuilder::atBlockBegin(&function.getBody().front());
    auto slots = [&](Type type, int64_t count) -> Value {
      return LLVM::AllocaOp::create(start, loc, pointer, type, lower::i64Constant(start, loc, count), 8);
    };
    Value list = slots(pointer, std::max<size_t>(operands.size(), 1));
    for (auto [i, operand] : llvm::enumerate(operands)) {
      Value slot = slots(b.getI64Type(), 1);
      if (isa<LLVM::LLVMPointerType>(operand.getType()))
        LLVM::StoreOp::create(b, loc, operand, slot);
      else
        lower::storeElement(b, loc, operand, slot);
      LLVM::StoreOp::create(b, loc, slot, lower::elementPointer(b, loc, list, b.getI64Type(), lower::i64Constant(b, loc, i)));
    }
    auto number = [&](Value index) -> Value {
      return arith::IndexCastUIOp::create(b, loc, b.getI64Type(), index);
    };
    Value code = LLVM::AddressOfOp::create(b, loc, pointer, launch.getKernelModuleName().str() + "_code");
    Value name = LLVM::AddressOfOp::create(b, loc, pointer, kernel + "_name");
    lower::callRuntime(b, loc, "dyn_launch",
                       {function.getArgument(0), code, name, number(launch.getGridSizeX()),
                        number(launch.getBlockSizeX()), list});
    launch.erase();
  }
};

} // namespace
} // namespace dyn::gpu
