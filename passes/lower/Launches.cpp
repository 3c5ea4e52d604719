//===- Launches.cpp - the host's side of kernels of a device --------------===//
#include "passes/lower/Abi.h"
#include "passes/lower/Elements.h"
#include "passes/lower/FunctionLowering.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using dyn::memory::isScalar;

namespace dyn::lower {

/// Results are in memory that both sides see; the host waits before it reads a scalar, and before code of its own.
void FunctionLowering::lowerLaunch(kernel::LaunchOp op) {
  SmallVector<Value> arguments, scalarResults;
  for (Value input : op.getInputs())
    arguments.push_back(isScalar(input) ? scalar(input) : pointer(input));
  for (Value result : op.getResults()) {
    arguments.push_back(pointer(result));
    if (isScalar(result))
      scalarResults.push_back(arguments.back());
  }
  auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, loc, value); };
  auto launch = [&](SymbolRefAttr kernel, int64_t blocks, int64_t threads, ValueRange values) {
    Value one = index(1);
    gpu::LaunchFuncOp::create(b, loc, kernel, gpu::KernelDim3{index(blocks), one, one},
                              gpu::KernelDim3{index(threads), one, one}, /*dynamicSharedMemorySize=*/Value(), values);
  };
  launch(op.getKernel(), op.getBlocks(), op.getThreads(), arguments);
  if (std::optional<SymbolRefAttr> finish = op.getFinish())
    launch(*finish, 1, 1, scalarResults);
  if (!scalarResults.empty() || !isa_and_nonnull<kernel::LaunchOp>(op->getNextNode()))
    callRuntime(b, loc, "dyn_wait", {context});
  for (Value result : op.getResults())
    if (isScalar(result))
      scalars[result] = loadElement(b, loc, pointer(result), elementOf(result));
}

} // namespace dyn::lower
