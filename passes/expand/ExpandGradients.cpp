//===- ExpandGradients.cpp - the objective and its derivative in place ----===//
//
// After this pass sockets hold plain computations: the objective's body, and
// for a gradient its reverse mode; a `dyn.derivative` becomes its function and
// a sweep, inner ones first. What two calls share (the loss beside its
// gradient) is left to CSE; gradients of parts become a loop over them. No
// `dyn.loss`, `dyn.gradient`, `dyn.part_gradients`, `dyn.derivative`,
// `dyn.with_backward`, `dyn.next_states` or objective is left.
//
//===----------------------------------------------------------------------===//
#include "passes/expand/Passes.h"

#include "passes/expand/Derivatives.h"

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
  SmallVector<Value> leaves = expand::flatLeaves(builder, loc, tree);
  for (auto [leaf, shape] : llvm::zip(leaves, encoding.getShapes()))
    leaf = nd::ReshapeOp::create(builder, loc, leaf, shape.asArrayRef()).getResult();
  return leaves;
}

/// A copy of the objective's body at `leaves`; gives the loss, and behind it the next states of models.
static SmallVector<Value> inlineBody(OpBuilder &builder, ObjectiveOp objective, ArrayRef<Value> leaves) {
  IRMapping map;
  Block &body = objective.getBody().front();
  for (auto [argument, leaf] : llvm::zip(body.getArguments(), leaves))
    map.map(argument, leaf);
  for (Operation &op : body.without_terminator())
    builder.clone(op, map);
  return llvm::map_to_vector(body.getTerminator()->getOperands(), [&](Value value) { return map.lookupOrDefault(value); });
}

static Value inlineObjective(OpBuilder &builder, ObjectiveOp objective, ArrayRef<Value> leaves) {
  return inlineBody(builder, objective, leaves).front();
}

namespace {
struct ExpandGradients : public expand::impl::ExpandGradientsPassBase<ExpandGradients> {
  void runOnOperation() override {
    SmallVector<ObjectiveOp> objectives;
    SmallVector<Operation *> losses, states;
    getOperation().walk([&](ObjectiveOp objective) { objectives.push_back(objective); });
    // What the objective holds is expanded once, before it is copied.
    for (ObjectiveOp objective : objectives)
      if (failed(expandInside(objective)))
        return signalPassFailure();
    getOperation().walk([&](Operation *op) {
      if (isa<LossOp>(op))
        losses.push_back(op);
      else if (isa<NextStatesOp>(op))
        states.push_back(op);
    });
    for (Operation *loss : losses)
      expandLoss(cast<LossOp>(loss));
    if (failed(expandInside(getOperation())))
      return signalPassFailure();
    for (Operation *next : states)
      expandStates(cast<NextStatesOp>(next));
    for (ObjectiveOp objective : objectives)
      objective.erase();
    expand::dropBackward(getOperation());
  }

  /// Inner derivatives first, so that outer ones see plain ops.
  LogicalResult expandInside(Operation *root) {
    SmallVector<Operation *> derivatives;
    root->walk<WalkOrder::PostOrder>([&](Operation *op) {
      if (isa<GradientOp, PartGradientsOp, DerivativeOp>(op))
        derivatives.push_back(op);
    });
    return success(llvm::all_of(derivatives, [&](Operation *op) { return succeeded(expandOp(op)); }));
  }

  LogicalResult expandOp(Operation *op) {
    if (auto gradient = dyn_cast<GradientOp>(op))
      return expandGradient(gradient);
    if (auto parts = dyn_cast<PartGradientsOp>(op))
      return expandParts(parts);
    auto refuse = [](Operation *at, const Twine &reason) { at->emitError("no derivative here: ") << reason; };
    return LogicalResult(expand::expandDerivative(cast<DerivativeOp>(op), refuse));
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

  void expandStates(NextStatesOp next) {
    OpBuilder builder(next);
    ObjectiveOp objective = objectiveOf(next, next.getObjectiveAttr());
    SmallVector<Value> values = inlineBody(builder, objective, leavesOf(builder, next.getLoc(), next.getParams()));
    next.replaceAllUsesWith(ValueRange(values).drop_front());
    next.erase();
  }

  LogicalResult expandGradient(GradientOp gradient) {
    OpBuilder builder(gradient);
    Location loc = gradient.getLoc();
    SmallVector<Value> leaves = leavesOf(builder, loc, gradient.getParams());
    auto made = lossAndGradient(builder, loc, objectiveOf(gradient, gradient.getObjectiveAttr()), leaves, {});
    if (failed(made))
      return failure();
    Value tree = RecastOp::create(builder, loc, gradient.getGradient().getType(), made->second).getResult();
    gradient.getLoss().replaceAllUsesWith(made->first);
    gradient.getGradient().replaceAllUsesWith(tree);
    gradient.erase();
    return success();
  }

  /// A pass of a loop for each part, which stacks losses and gradients.
  LogicalResult expandParts(PartGradientsOp op) {
    OpBuilder builder(op);
    ObjectiveOp objective = objectiveOf(op, op.getObjectiveAttr());
    bool isOneEach = cast<RankedTensorType>(op.getParams().getType()).getRank() == 2;
    bool fine = true;
    auto loop = nd::ScanOp::create(
        builder, op.getLoc(), ValueRange(), isOneEach ? ValueRange(op.getParams()) : ValueRange(), op.getParts(), false,
        [&](OpBuilder &b, Location loc, Value part, ValueRange, ValueRange rows) -> SmallVector<Value> {
          Value tree = isOneEach ? rows.front() : op.getParams();
          SmallVector<Value> leaves = leavesOf(b, loc, RecastOp::create(b, loc, treeTypeOf(objective), tree));
          auto made = lossAndGradient(b, loc, objective, leaves, part);
          fine = succeeded(made);
          return fine ? SmallVector<Value>{made->first, made->second} : SmallVector<Value>();
        });
    if (!fine)
      return failure();
    op->replaceAllUsesWith(loop.getResults());
    op.erase();
    return success();
  }

  /// The type of a tree of what the objective is a function of, without the number of a part.
  static RankedTensorType treeTypeOf(ObjectiveOp objective) {
    SmallVector<DenseI64ArrayAttr> shapes;
    int64_t count = 0;
    auto leaves = objective.getBody().front().getArguments().drop_back();
    for (BlockArgument leaf : leaves) {
      auto type = cast<RankedTensorType>(leaf.getType());
      shapes.push_back(DenseI64ArrayAttr::get(objective.getContext(), type.getShape()));
      count += type.getNumElements();
    }
    return RankedTensorType::get({count}, cast<RankedTensorType>(leaves.front().getType()).getElementType(),
                                 TreeAttr::get(objective.getContext(), shapes));
  }

  /// The objective at `leaves` and the parts of its gradient, joined to one flat value. `rest`: its other arguments.
  FailureOr<std::pair<Value, Value>> lossAndGradient(OpBuilder &builder, Location loc, ObjectiveOp objective,
                                                     ArrayRef<Value> leaves, ValueRange rest) {
    SmallVector<Value> arguments(leaves);
    llvm::append_range(arguments, rest);
    Value loss = inlineObjective(builder, objective, arguments);
    SmallVector<bool> dependent;
    auto refuse = [&](Operation *op, const Twine &reason) { op->emitError("the loss has no derivative here: ") << reason; };
    auto parts = buildGradient(builder, loss, {}, leaves, refuse, &dependent);
    if (failed(parts))
      return failure();
    auto paths = objective->getAttrOfType<ArrayAttr>("paths");
    auto frozen = objective->getAttrOfType<DenseBoolArrayAttr>("frozen");
    for (auto [i, depends] : llvm::enumerate(dependent))
      if (!depends && paths && !(frozen && frozen[i]))
        return emitError(objective.getBody().getArgument(i).getLoc(), "the loss does not depend on `")
               << cast<StringAttr>(paths[i]).getValue() << "`: its derivative is zero everywhere";
    SmallVector<Value> flat;
    for (Value part : *parts) {
      int64_t count = cast<RankedTensorType>(part.getType()).getNumElements();
      flat.push_back(nd::ReshapeOp::create(builder, loc, part, ArrayRef<int64_t>{count}).getResult());
    }
    Value whole = flat.size() == 1 ? flat.front()
                                   : nd::ConcatOp::create(builder, loc, ValueRange(flat), uint64_t(0)).getResult();
    return std::make_pair(loss, whole);
  }
};
} // namespace
