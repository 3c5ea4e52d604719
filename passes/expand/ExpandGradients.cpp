//===- ExpandGradients.cpp - the objective and its derivative in place ----===//
//
// After this pass sockets hold plain computations: the objective's body, and
// for a gradient its reverse mode. What two calls share (the loss beside its
// gradient) is left to CSE. No `dyn.loss`, `dyn.gradient` or objective is left.
//
//===----------------------------------------------------------------------===//
#include "passes/expand/Passes.h"

#include "passes/differentiate/Differentiate.h"

#define DEBUG_TYPE "dyn-expand-gradients"

namespace dyn::expand {
#define GEN_PASS_DEF_EXPANDGRADIENTSPASS
#include "passes/expand/Passes.h.inc"
} // namespace dyn::expand

using namespace mlir;
using namespace dyn;
using namespace dyn::ir;

/// The leaves of a tree as values of their own shapes.
static SmallVector<Value> leavesOf(OpBuilder &builder, Location loc, Value tree) {
  auto encoding = cast<TreeAttr>(cast<RankedTensorType>(tree.getType()).getEncoding());
  Value flat = RecastOp::create(builder, loc, withEncoding(tree.getType(), {}), tree).getResult();
  SmallVector<int64_t> offsets = encoding.offsets();
  SmallVector<Value> leaves;
  for (auto [i, shape] : llvm::enumerate(encoding.getShapes())) {
    Value part = nd::SliceOp::create(builder, loc, flat, ArrayRef<int64_t>{offsets[i]},
                                     ArrayRef<int64_t>{offsets[i + 1] - offsets[i]}, ArrayRef<int64_t>{1})
                     .getResult();
    leaves.push_back(nd::ReshapeOp::create(builder, loc, part, shape.asArrayRef()).getResult());
  }
  return leaves;
}

/// A copy of the objective's body at `leaves`; gives the loss.
static Value inlineObjective(OpBuilder &builder, ObjectiveOp objective, ArrayRef<Value> leaves) {
  IRMapping map;
  Block &body = objective.getBody().front();
  for (auto [argument, leaf] : llvm::zip(body.getArguments(), leaves))
    map.map(argument, leaf);
  for (Operation &op : body.without_terminator())
    builder.clone(op, map);
  return map.lookupOrDefault(cast<YieldOp>(body.getTerminator()).getValue());
}

namespace {
struct ExpandGradients : public expand::impl::ExpandGradientsPassBase<ExpandGradients> {
  void runOnOperation() override {
    SmallVector<LossOp> losses;
    SmallVector<GradientOp> gradients;
    SmallVector<ObjectiveOp> objectives;
    getOperation().walk([&](Operation *op) {
      if (auto loss = dyn_cast<LossOp>(op))
        losses.push_back(loss);
      else if (auto gradient = dyn_cast<GradientOp>(op))
        gradients.push_back(gradient);
      else if (auto objective = dyn_cast<ObjectiveOp>(op))
        objectives.push_back(objective);
    });
    for (LossOp loss : losses)
      expandLoss(loss);
    for (GradientOp gradient : gradients)
      if (failed(expandGradient(gradient)))
        return signalPassFailure();
    for (ObjectiveOp objective : objectives)
      objective.erase();
  }

  ObjectiveOp objectiveOf(Operation *op, FlatSymbolRefAttr name) {
    return SymbolTable::lookupNearestSymbolFrom<ObjectiveOp>(op, name);
  }

  void expandLoss(LossOp loss) {
    OpBuilder builder(loss);
    ObjectiveOp objective = objectiveOf(loss, loss.getObjectiveAttr());
    loss.getLoss().replaceAllUsesWith(inlineObjective(builder, objective, leavesOf(builder, loss.getLoc(), loss.getParams())));
    loss.erase();
  }

  LogicalResult expandGradient(GradientOp gradient) {
    OpBuilder builder(gradient);
    Location loc = gradient.getLoc();
    ObjectiveOp objective = objectiveOf(gradient, gradient.getObjectiveAttr());
    SmallVector<Value> leaves = leavesOf(builder, loc, gradient.getParams());
    Value loss = inlineObjective(builder, objective, leaves);
    SmallVector<bool> dependent;
    auto refuse = [&](Operation *op, const Twine &reason) { op->emitError("the loss has no derivative here: ") << reason; };
    auto parts = buildGradient(builder, loss, {}, leaves, refuse, &dependent);
    if (failed(parts))
      return failure();
    auto paths = objective->getAttrOfType<ArrayAttr>("paths");
    auto frozen = objective->getAttrOfType<DenseBoolArrayAttr>("frozen");
    for (auto [i, depends] : llvm::enumerate(dependent))
      if (!depends && paths && !(frozen && frozen[i]))
        return objective.emitError("the loss does not depend on `")
               << cast<StringAttr>(paths[i]).getValue() << "`: its derivative is zero everywhere";
    SmallVector<Value> flat;
    for (Value part : *parts) {
      int64_t count = cast<RankedTensorType>(part.getType()).getNumElements();
      flat.push_back(nd::ReshapeOp::create(builder, loc, part, ArrayRef<int64_t>{count}).getResult());
    }
    Value whole = flat.size() == 1 ? flat.front()
                                   : nd::ConcatOp::create(builder, loc, ValueRange(flat), uint64_t(0)).getResult();
    Value tree = RecastOp::create(builder, loc, gradient.getGradient().getType(), whole).getResult();
    gradient.getLoss().replaceAllUsesWith(loss);
    gradient.getGradient().replaceAllUsesWith(tree);
    gradient.erase();
    return success();
  }
};
} // namespace
