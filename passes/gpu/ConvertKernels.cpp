//===- ConvertKernels.cpp - kernels of a device in NVVM -------------------===//
#include "passes/gpu/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Transforms/DialectConversion.h"

namespace dyn::gpu {
#define GEN_PASS_DEF_CONVERTKERNELSPASS
#include "passes/gpu/Passes.h.inc"
} // namespace dyn::gpu

using namespace mlir;

namespace dyn::gpu {
namespace {

struct ConvertKernels : impl::ConvertKernelsPassBase<ConvertKernels> {
  using ConvertKernelsPassBase::ConvertKernelsPassBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    LLVMTypeConverter converter(context);
    configureGpuToNVVMTypeConverter(converter);
    RewritePatternSet patterns(context);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    populateGpuToNVVMConversionPatterns(converter, patterns);
    LLVMConversionTarget target(*context);
    target.addLegalDialect<NVVM::NVVMDialect>();
    target.addIllegalDialect<mlir::gpu::GPUDialect>();
    target.addLegalOp<mlir::gpu::GPUModuleOp>();
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace dyn::gpu
