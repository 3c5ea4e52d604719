// A function for one row becomes a function for many: a new block is built beside the old one through the rules of
// Batchable and takes its place.
#include "passes/batch/Batch.h"

#include "passes/batch/Passes.h"

#define DEBUG_TYPE "nd-batch"

namespace dyn {
#define GEN_PASS_DEF_BATCHPASS
#include "passes/batch/Passes.h.inc"
} // namespace dyn

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

LogicalResult dyn::batchFunction(func::FuncOp function, ArrayRef<int64_t> arguments, const BatchRequest &request) {
  Block *old = &function.getBody().front(), *fresh = new Block;
  function.getBody().push_back(fresh);
  BatchMap map;
  for (auto [i, argument] : llvm::enumerate(old->getArguments())) {
    bool batched = llvm::is_contained(arguments, int64_t(i));
    Type type = batched ? Type(withLeading(typeOf(argument), request.size)) : argument.getType();
    map[argument] = {fresh->addArgument(type, argument.getLoc()), batched};
  }
  OpBuilder builder = OpBuilder::atBlockEnd(fresh);
  if (failed(batchBlock(builder, *old, map, request))) {
    fresh->erase();
    return failure();
  }
  IRMapping ends;
  for (Value value : old->getTerminator()->getOperands())
    ends.map(value, map.contains(value) ? map[value].value : value);
  Operation *end = builder.clone(*old->getTerminator(), ends);
  old->erase();
  function.setFunctionType(
      FunctionType::get(function.getContext(), fresh->getArgumentTypes(), end->getOperandTypes()));
  return success();
}

namespace {
struct Batch : public dyn::impl::BatchPassBase<Batch> {
  using BatchPassBase::BatchPassBase;

  void runOnOperation() override {
    auto target = getOperation().lookupSymbol<func::FuncOp>(function);
    if (!target || !target.getBody().hasOneBlock()) {
      getOperation().emitError("no function `") << function << "` of one block to batch";
      return signalPassFailure();
    }
    BatchRequest request;
    request.size = size;
    if (failed(batchFunction(target, SmallVector<int64_t>(args.begin(), args.end()), request)))
      signalPassFailure();
  }
};
} // namespace
