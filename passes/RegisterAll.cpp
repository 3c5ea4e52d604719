#include "passes/RegisterAll.h"

#include "dialects/Nd/NdOps.h"
#include "dialects/Run/RunOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/Passes.h"

// Which phases this build has is said by passes/tools/CMakeLists.txt.
#ifdef DYN_HAS_DYN
#include "dialects/Dyn/DynOps.h"
#endif
#ifdef DYN_HAS_KERNEL
#include "dialects/Kernel/KernelOps.h"
#endif
#ifdef DYN_HAS_DIFFERENTIATE
#include "passes/differentiate/Passes.h"
#endif
#ifdef DYN_HAS_BATCH
#include "passes/batch/Passes.h"
#endif
#ifdef DYN_HAS_EXPAND
#include "passes/expand/Passes.h"
#endif
#ifdef DYN_HAS_CONTRACT
#include "passes/contract/Passes.h"
#endif
#ifdef DYN_HAS_FUSE
#include "passes/fuse/Passes.h"
#endif
#ifdef DYN_HAS_MEMORY
#include "passes/memory/Passes.h"
#endif
#ifdef DYN_HAS_LOWER
#include "passes/lower/Passes.h"
#endif
#ifdef DYN_HAS_GPU
#include "passes/gpu/Passes.h"
#endif
#ifdef DYN_HAS_VERIFY
#include "passes/verify/Passes.h"
#endif
#ifdef DYN_HAS_CPU
#include "passes/cpu/Passes.h"
#endif
#ifdef DYN_HAS_PIPELINE
#include "passes/pipeline/Pipelines.h"
#endif

void dyn::registerAllDynDialects(mlir::DialectRegistry &registry) {
  registry.insert<nd::NdDialect, run::RunDialect>();
#ifdef DYN_HAS_DYN
  registry.insert<ir::DynDialect>();
#endif
#ifdef DYN_HAS_KERNEL
  registry.insert<kernel::KernelDialect>();
#endif
  registry.insert<mlir::arith::ArithDialect, mlir::bufferization::BufferizationDialect, mlir::cf::ControlFlowDialect,
                  mlir::func::FuncDialect, mlir::linalg::LinalgDialect, mlir::LLVM::LLVMDialect,
                  mlir::math::MathDialect, mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
                  mlir::tensor::TensorDialect, mlir::vector::VectorDialect>();
}

void dyn::registerAllDynPasses() {
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerInlinerPass();
  mlir::registerSymbolDCEPass();
#ifdef DYN_HAS_EXPAND
  expand::registerExpandPasses();
#endif
#ifdef DYN_HAS_BATCH
  registerBatchPasses();
#endif
#ifdef DYN_HAS_DIFFERENTIATE
  registerDifferentiatePasses();
#endif
#ifdef DYN_HAS_CONTRACT
  contract::registerContractPasses();
#endif
#ifdef DYN_HAS_FUSE
  fuse::registerFusePasses();
#endif
#ifdef DYN_HAS_MEMORY
  memory::registerMemoryPasses();
#endif
#ifdef DYN_HAS_LOWER
  lower::registerLowerPasses();
#endif
#ifdef DYN_HAS_GPU
  gpu::registerGpuPasses();
#endif
#ifdef DYN_HAS_VERIFY
  verify::registerVerifyPasses();
#endif
#ifdef DYN_HAS_CPU
  cpu::registerCpuPasses();
#endif
#ifdef DYN_HAS_PIPELINE
  registerPipelines();
#endif
}
