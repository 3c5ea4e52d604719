//===- MapKernels.cpp - loops become kernels of a device ------------------===//
#include "passes/gpu/DeviceKernels.h"

#include "dialects/Run/RunOps.h"
#include "passes/fuse/Clusters.h"
#include "passes/lower/KernelEmitter.h"
#include "passes/memory/Places.h"

namespace dyn::gpu {
#define GEN_PASS_DEF_MAPKERNELSPASS
#include "passes/gpu/Passes.h.inc"
} // namespace dyn::gpu

using namespace mlir;

namespace dyn::gpu {
namespace {

/// What an operation is in the language.
struct Word {
  StringLiteral name, text;
};
constexpr Word operationWords[] = {
    {"kernel.product", "a matrix product"},   {"nd.scan", "a `for` that carries values"},
    {"nd.while", "`while`"},                  {"nd.cond", "an `if` of which only one side may run"},
    {"nd.scatter", "a write or a gradient at an index"}, {"nd.cumulate", "`cumsum` or `cumprod`"},
    {"nd.arg_reduce", "`argmax` or `argmin`"}, {"kernel.call", "sorting, a decomposition or a Fourier transform"},
};
/// Of functions that the body of a kernel would call.
constexpr Word functionWords[] = {
    {"sin", "`sin`"},
    {"cos", "`cos`"},
    {"pow", "a power whose exponent is a value"},
};

StringRef wordFor(ArrayRef<Word> words, StringRef name) {
  auto *found = llvm::find_if(words, [&](const Word &word) { return word.name == name; });
  return found == words.end() ? name : StringRef(found->text);
}

/// Scalar code, effects, and what only gives bytes another shape; draws and copies write where both sides can read.
bool mayStayOnHost(Operation *op) {
  if (isa<run::ReadOp, run::WriteOp, run::NumberOp, run::ClockOp, run::CountOp, run::RowsOp, run::EmitOp, run::GuardOp,
          nd::ConstantOp, nd::ReshapeOp, nd::DrawOp, nd::ConcatOp>(op))
    return true;
  if (op->hasTrait<OpTrait::IsTerminator>() || fuse::isView(op))
    return true;
  return op->getNumRegions() == 0 && op->getNumResults() == 1 && memory::isScalar(op->getResult(0));
}

struct MapKernels : impl::MapKernelsPassBase<MapKernels> {
  using MapKernelsPassBase::MapKernelsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    module->setAttr(mlir::gpu::GPUDialect::getContainerModuleAttrName(), b.getUnitAttr());
    kernels = mlir::gpu::GPUModuleOp::create(b, module.getLoc(), "kernels");
    for (auto function : module.getOps<func::FuncOp>())
      for (Operation &op : function.getBody().front())
        if (failed(mapOp(&op)))
          return signalPassFailure();
    for (Operation *op : done)
      op->erase();
  }

  LogicalResult mapOp(Operation *op) {
    if (auto fused = dyn_cast<kernel::FusedOp>(op))
      return mapFused(fused);
    if (auto reduce = dyn_cast<nd::SegmentReduceOp>(op))
      return launch(op, mapSegmentReduce(reduce, kernels, nextName(), vectorBytes));
    if (auto spread = dyn_cast<nd::SegmentSpreadOp>(op))
      return launch(op, mapSegmentSpread(spread, kernels, nextName()));
    if (mayStayOnHost(op))
      return success();
    return op->emitError(noCode) << wordFor(operationWords, op->getName().getStringRef());
  }

  LogicalResult mapFused(kernel::FusedOp op) {
    for (Value input : op.getInputs()) {
      auto constant = memory::viewOf(input).base.getDefiningOp<nd::ConstantOp>();
      if (constant && !memory::isScalar(input))
        return constant->emitError(noCode) << "an array of literals";
    }
    // Its check would report to the context of the host, which a kernel does not have.
    WalkResult gathers = op.getBody().walk([&](nd::GatherOp gather) {
      gather->emitError(noCode) << "an index that is a value";
      return WalkResult::interrupt();
    });
    if (gathers.wasInterrupted())
      return failure();
    for (auto &[other, mapped] : known)
      if (lower::KernelEmitter::isSameCode(other, op))
        return launch(op, mapped);
    Mapped mapped = mapLoop(getOperation(), op, kernels, nextName(), vectorBytes);
    if (failed(checkCalls(mapped.kernel)))
      return failure();
    known.emplace_back(op, mapped);
    return launch(op, mapped);
  }

  /// A kernel calls nothing: what the host asks a library for has no code here.
  LogicalResult checkCalls(mlir::gpu::GPUFuncOp kernel) {
    WalkResult result = kernel.walk([&](Operation *inner) {
      if (auto call = dyn_cast<LLVM::CallOp>(inner)) {
        inner->emitError(noCode) << wordFor(functionWords, call.getCallee().value_or(""));
        return WalkResult::interrupt();
      }
      if (isa<arith::RemFOp>(inner)) {
        inner->emitError(noCode) << "`%`";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult launch(Operation *op, const Mapped &mapped) {
    OpBuilder b(op);
    auto symbol = [&](mlir::gpu::GPUFuncOp function) {
      return SymbolRefAttr::get(kernels.getNameAttr(), {FlatSymbolRefAttr::get(function.getNameAttr())});
    };
    auto call = kernel::LaunchOp::create(b, op->getLoc(), op->getResultTypes(), symbol(mapped.kernel), mapped.blocks,
                                         mapped.threads, op->getOperands(),
                                         mapped.finish ? symbol(mapped.finish) : SymbolRefAttr());
    if (Attribute places = op->getAttr("places"))
      call->setAttr("places", places);
    op->replaceAllUsesWith(call);
    done.push_back(op);
    return success();
  }

  std::string nextName() { return "kernel_" + std::to_string(names++); }

  mlir::gpu::GPUModuleOp kernels;
  unsigned names = 0;
  std::vector<std::pair<kernel::FusedOp, Mapped>> known;
  SmallVector<Operation *> done; ///< kept to the end: bodies are compared
};

} // namespace
} // namespace dyn::gpu
