//===- LibraryCalls.cpp - calls of routines of the runtime ----------------===//
#include "passes/lower/Abi.h"
#include "passes/lower/Elements.h"
#include "passes/lower/FunctionLowering.h"

using namespace mlir;
using dyn::memory::isScalar;

namespace dyn::lower {

/// Addresses of inputs, results and scratch in one list; scalars pass through stack memory.
void FunctionLowering::lowerCall(kernel::CallOp op) {
  SmallVector<Value> addresses;
  for (Value input : op.getInputs()) {
    addresses.push_back(isScalar(input) ? stack(b.getI64Type(), 1) : pointer(input));
    if (isScalar(input))
      storeElement(b, loc, scalar(input), addresses.back());
  }
  for (Value result : op.getResults())
    addresses.push_back(isScalar(result) ? stack(b.getI64Type(), 1) : pointer(result));
  Type pointerOf = pointerType(b.getContext());
  Value list = stack(pointerOf, addresses.size());
  for (auto [i, address] : llvm::enumerate(addresses))
    LLVM::StoreOp::create(b, loc, address, offset(list, int64_t(i * sizeof(void *))));
  auto site = op->getAttrOfType<IntegerAttr>("site");
  callRuntime(b, loc, op.getRoutine(),
              {context, i32(site ? site.getInt() : -1), i32(elementCode(elementOf(op.getInputs().front()))),
               globalNumbers(op.getNumbers()), list});
  for (auto [result, address] : llvm::zip(op.getResults(), ArrayRef(addresses).drop_front(op.getInputs().size())))
    if (isScalar(result))
      scalars[result] = loadElement(b, loc, address, elementOf(result));
  if (op.getFails())
    leaveIfFailed();
}

} // namespace dyn::lower
