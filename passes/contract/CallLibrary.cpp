//===- CallLibrary.cpp - ops that a routine does become calls -------------===//
//
// After this pass no op of a function has the interface LibraryCall.
//
//===----------------------------------------------------------------------===//
#include "passes/contract/Passes.h"

#include "dialects/Nd/NdLibraryOps.h"

namespace dyn::contract {
#define GEN_PASS_DEF_CALLLIBRARYPASS
#include "passes/contract/Passes.h.inc"
} // namespace dyn::contract

using namespace mlir;

namespace dyn::contract {
namespace {

void replaceByCall(nd::LibraryCall op) {
  OpBuilder builder(op);
  SmallVector<Type> types(op->getResultTypes());
  if (int64_t bytes = op.getScratchBytes())
    types.push_back(RankedTensorType::get({bytes}, builder.getI8Type()));
  auto call = kernel::CallOp::create(builder, op.getLoc(), types, op.getRoutine(), op.getNumbers(), op.canFail(),
                                     op->getOperands());
  if (Attribute site = op->getAttr("site"))
    call->setAttr("site", site);
  op->replaceAllUsesWith(call.getResults().take_front(op->getNumResults()));
  op->erase();
}

struct CallLibrary : impl::CallLibraryPassBase<CallLibrary> {
  void runOnOperation() override {
    getOperation().walk([](nd::LibraryCall op) { replaceByCall(op); });
  }
};

} // namespace
} // namespace dyn::contract
