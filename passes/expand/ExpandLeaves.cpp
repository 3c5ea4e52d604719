//===- ExpandLeaves.cpp - no encodings any more, sockets as functions -----===//
//
// A leaf-wise value, a tree and a flat range are the same elements: dropping
// the encodings leaves ops of nd as they are. Later passes may assume plain
// tensors and functions at the module's top.
//
//===----------------------------------------------------------------------===//
#include "passes/expand/Passes.h"

#include "passes/expand/Segments.h"

#define DEBUG_TYPE "dyn-expand-leaves"

namespace dyn::expand {
#define GEN_PASS_DEF_EXPANDLEAVESPASS
#include "passes/expand/Passes.h.inc"
} // namespace dyn::expand

using namespace mlir;
using namespace dyn;
using namespace dyn::ir;

static void dropEncoding(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (type && type.getEncoding())
    value.setType(withEncoding(type, {}));
}

static void dropEncodings(Operation *op) {
  if (auto constant = dyn_cast<nd::ConstantOp>(op))
    if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
      constant->setAttr("value", dense.reshape(withEncoding(dense.getType(), {})));
  for (Value result : op->getResults())
    dropEncoding(result);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Value argument : block.getArguments())
        dropEncoding(argument);
}

namespace {
struct ExpandLeaves : public expand::impl::ExpandLeavesPassBase<ExpandLeaves> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    expand::expandSegments(module);
    module.walk([](Operation *op) { dropEncodings(op); });
    module.walk([](Operation *op) {
      if (!isa<RecastOp, VaryOp>(op))
        return;
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    });
    for (TrainOp train : llvm::make_early_inc_range(module.getOps<TrainOp>()))
      unwrap(train);
  }

  /// Sockets become functions of no arguments; the program moves beside them.
  void unwrap(TrainOp train) {
    OpBuilder builder(train);
    for (Operation &op : llvm::make_early_inc_range(train.getBody().front())) {
      if (auto socket = dyn_cast<SocketOp>(op)) {
        auto function = func::FuncOp::create(builder, socket.getLoc(), socket.getSymName(), builder.getFunctionType({}, {}));
        function.getBody().takeBody(socket.getBody());
        OpBuilder end = OpBuilder::atBlockEnd(&function.getBody().front());
        func::ReturnOp::create(end, socket.getLoc());
        socket.erase();
      } else
        op.moveBefore(train);
    }
    train.erase();
  }
};
} // namespace
