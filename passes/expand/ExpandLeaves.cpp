//===- ExpandLeaves.cpp - no encodings any more, sockets as functions -----===//
//
// A leaf-wise value, a tree and a flat range are the same elements: dropping
// the encodings leaves ops of nd as they are. Later passes may assume plain
// tensors and functions at the module's top.
//
//===----------------------------------------------------------------------===//
#include "passes/expand/Passes.h"

#include "passes/expand/Kinds.h"

#define DEBUG_TYPE "dyn-expand-leaves"

namespace dyn::expand {
#define GEN_PASS_DEF_EXPANDLEAVESPASS
#include "passes/expand/Passes.h.inc"
} // namespace dyn::expand

using namespace mlir;
using namespace dyn;
using namespace dyn::ir;

/// leaf_reduce(x)_s = segment_reduce(x, offsets)_s
static void expandReduce(LeafReduceOp op) {
  OpBuilder builder(op);
  auto leaves = cast<LeavesAttr>(cast<RankedTensorType>(op.getInput().getType()).getEncoding());
  Value flat = RecastOp::create(builder, op.getLoc(), withEncoding(op.getInput().getType(), {}), op.getInput()).getResult();
  Value sums = nd::SegmentReduceOp::create(builder, op.getLoc(), flat, expand::reductionOf(op.getKind()),
                                           ArrayRef<int64_t>(leaves.offsets()))
                   .getResult();
  op.replaceAllUsesWith(RecastOp::create(builder, op.getLoc(), op.getType(), sums).getResult());
  op.erase();
}

/// leaf_spread(s) = segment_spread(s, offsets)
static void expandSpread(LeafSpreadOp op) {
  OpBuilder builder(op);
  auto leaves = cast<LeavesAttr>(cast<RankedTensorType>(op.getType()).getEncoding());
  Value plain = RecastOp::create(builder, op.getLoc(), withEncoding(op.getInput().getType(), {}), op.getInput()).getResult();
  Value wide = nd::SegmentSpreadOp::create(builder, op.getLoc(), plain, ArrayRef<int64_t>(leaves.offsets())).getResult();
  op.replaceAllUsesWith(RecastOp::create(builder, op.getLoc(), op.getType(), wide).getResult());
  op.erase();
}

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
    module.walk([](Operation *op) {
      if (auto reduce = dyn_cast<LeafReduceOp>(op))
        expandReduce(reduce);
      else if (auto spread = dyn_cast<LeafSpreadOp>(op))
        expandSpread(spread);
    });
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
