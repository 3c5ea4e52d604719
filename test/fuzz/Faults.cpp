#include "Faults.h"

#include "dialects/Kernel/KernelOps.h"
#include "dialects/Nd/NdExpression.h"
#include "dialects/Nd/NdOps.h"

using namespace mlir;
using namespace dyn;
using namespace dyn::nd;

namespace dyn::fuzz {
namespace {

//===----------------------------------------------------------------------===//
// How faults are planted
//===----------------------------------------------------------------------===//

/// The rules that an op has in a context, to be written.
template <class OpT, class Interface>
typename Interface::Concept &rulesOf(MLIRContext &context) {
  return *RegisteredOperationName::lookup(OpT::getOperationName(), &context)->template getInterface<Interface>();
}

/// The reverse rule of an op ends with `Change(op, builder, cotangents, inputCotangents)`. The context owns the
/// pointers; the right rule is the same function in each.
template <class OpT, class Change>
void changeVjp(MLIRContext &context, Change) {
  using Rules = Differentiable::Concept;
  static decltype(Rules::buildVjp) right;
  Rules &rules = rulesOf<OpT, Differentiable>(context);
  right = rules.buildVjp;
  rules.buildVjp = [](const Rules *impl, Operation *op, OpBuilder &builder, ArrayRef<Value> cotangents,
                      const VjpRequest &request, SmallVectorImpl<Value> &inputs) {
    LogicalResult result = right(impl, op, builder, cotangents, request, inputs);
    if (succeeded(result))
      Change{}(cast<OpT>(op), builder, cotangents, inputs);
    return result;
  };
}

/// What the batching rule of an op built, if it is one op of the same kind, is changed by `Change(op, built)`.
template <class OpT, class Change>
void changeBatched(MLIRContext &context, Change) {
  using Rules = Batchable::Concept;
  static decltype(Rules::buildBatched) right;
  Rules &rules = rulesOf<OpT, Batchable>(context);
  right = rules.buildBatched;
  rules.buildBatched = [](const Rules *impl, Operation *op, OpBuilder &builder, ArrayRef<Value> inputs,
                          ArrayRef<bool> batched, const BatchRequest &request) {
    auto results = right(impl, op, builder, inputs, batched, request);
    if (succeeded(results) && !results->empty())
      if (auto built = results->front().getDefiningOp<OpT>())
        Change{}(cast<OpT>(op), built);
    return results;
  };
}

/// Each op of a kind is changed in code that is compiled, when it has come to a stage.
template <class OpT, class Change>
void changeAt(Toolchain &toolchain, StringRef stage, Change change) {
  toolchain.stageHook = [stage, change](StringRef at, ModuleOp module) {
    if (at == stage)
      module.walk([&](OpT op) { change(op); });
  };
}

/// A fold more: `Fold` gives the value that the op is replaced with, or null.
template <class OpT, class Fold>
struct WrongFold : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    Value value = Fold{}(op, rewriter);
    if (!value || value.getType() != op.getType())
      return failure();
    rewriter.replaceOp(op, value);
    return success();
  }
};
template <class OpT, class Fold>
void addFold(Toolchain &toolchain, Fold) {
  toolchain.morePatterns = [](RewritePatternSet &patterns) {
    patterns.add<WrongFold<OpT, Fold>>(patterns.getContext(), PatternBenefit(9));
  };
}

Ex formula(OpBuilder &builder, Value value) { return {&builder, value.getLoc(), value}; }

//===----------------------------------------------------------------------===//
// The mistakes
//===----------------------------------------------------------------------===//

using Values = SmallVectorImpl<Value>;
using Plant = void (*)(MLIRContext &, Toolchain &);

const Plant tanhSlope = [](MLIRContext &context, Toolchain &) {
  changeVjp<TanhOp>(context, [](TanhOp op, OpBuilder &b, ArrayRef<Value> g, Values &in) {
    in[0] = formula(b, g[0]) * (1 - formula(b, op.getResult()));
  });
};
const Plant quotientSign = [](MLIRContext &context, Toolchain &) {
  changeVjp<DivOp>(context, [](DivOp, OpBuilder &b, ArrayRef<Value>, Values &in) {
    if (in[1])
      in[1] = -formula(b, in[1]);
  });
};
const Plant differenceSign = [](MLIRContext &context, Toolchain &) {
  changeVjp<SubOp>(context, [](SubOp, OpBuilder &, ArrayRef<Value> g, Values &in) {
    if (in[1])
      in[1] = g[0];
  });
};
const Plant rsqrtHalf = [](MLIRContext &context, Toolchain &) {
  changeVjp<RsqrtOp>(context, [](RsqrtOp, OpBuilder &b, ArrayRef<Value>, Values &in) {
    in[0] = formula(b, in[0]) * 2;
  });
};
const Plant transposeInverse = [](MLIRContext &context, Toolchain &) {
  changeVjp<TransposeOp>(context, [](TransposeOp op, OpBuilder &b, ArrayRef<Value> g, Values &in) {
    Value turned = TransposeOp::create(b, op.getLoc(), g[0], op.getPerm());
    if (turned.getType() == in[0].getType())
      in[0] = turned;
  });
};
const Plant extremumToAll = [](MLIRContext &context, Toolchain &) {
  changeVjp<ReduceOp>(context, [](ReduceOp op, OpBuilder &b, ArrayRef<Value> g, Values &in) {
    if (op.getKind() != ReduceKind::max)
      return;
    SmallVector<int64_t> kept;
    for (int64_t d = 0; d < typeOf(op.getInput()).getRank(); ++d)
      if (!llvm::is_contained(op.getDims(), d))
        kept.push_back(d);
    in[0] = BroadcastOp::create(b, op.getLoc(), g[0], shapeOf(op.getInput()), kept);
  });
};
const Plant capturesForgotten = [](MLIRContext &context, Toolchain &) {
  changeVjp<ScanOp>(context, [](ScanOp op, OpBuilder &, ArrayRef<Value>, Values &in) {
    std::fill(in.begin() + op->getNumOperands(), in.end(), Value());
  });
};
const Plant cumulateForward = [](MLIRContext &context, Toolchain &) {
  changeVjp<CumulateOp>(context, [](CumulateOp op, OpBuilder &b, ArrayRef<Value> g, Values &in) {
    if (op.getKind() == ReduceKind::sum)
      in[0] = CumulateOp::create(b, op.getLoc(), g[0], ReduceKind::sum, op.getDim());
  });
};
const Plant replacedBase = [](MLIRContext &context, Toolchain &) {
  changeVjp<ScatterOp>(context, [](ScatterOp, OpBuilder &, ArrayRef<Value> g, Values &in) { in[0] = g[0]; });
};
const Plant gatherTwice = [](MLIRContext &context, Toolchain &) {
  changeVjp<GatherOp>(context, [](GatherOp, OpBuilder &, ArrayRef<Value>, Values &in) {
    if (auto scatter = in[0].getDefiningOp<ScatterOp>())
      scatter.setMode(ScatterMode::set);
  });
};

const Plant cumulateDim = [](MLIRContext &context, Toolchain &) {
  changeBatched<CumulateOp>(context, [](CumulateOp op, CumulateOp built) { built.setDim(op.getDim()); });
};
const Plant padSides = [](MLIRContext &context, Toolchain &) {
  changeBatched<PadOp>(context, [](PadOp, PadOp built) {
    SmallVector<int64_t> low(built.getLow()), high(built.getHigh());
    built.setLow(high);
    built.setHigh(low);
  });
};
const Plant sliceOffsets = [](MLIRContext &context, Toolchain &) {
  changeBatched<SliceOp>(context, [](SliceOp, SliceOp built) {
    built.setOffsets(SmallVector<int64_t>(built.getOffsets().size(), 0));
  });
};
const Plant scanDirection = [](MLIRContext &context, Toolchain &) {
  changeBatched<ScanOp>(context, [](ScanOp, ScanOp built) { built.setReverse(false); });
};

const Plant minuendLast = [](MLIRContext &, Toolchain &toolchain) {
  changeAt<SubOp>(toolchain, "kernels", [](SubOp op) { op->setOperands({op.getY(), op.getX()}); });
};
const Plant orderStrict = [](MLIRContext &, Toolchain &toolchain) {
  changeAt<CompareOp>(toolchain, "kernels", [](CompareOp op) {
    if (op.getKind() == CompareKind::le)
      op.setKind(CompareKind::lt);
  });
};
const Plant largestFromZero = [](MLIRContext &, Toolchain &toolchain) {
  changeAt<ReduceOp>(toolchain, "nd", [](ReduceOp op) {
    if (op.getKind() != ReduceKind::max || !isa<FloatType>(typeOf(op.getResult()).getElementType()))
      return;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    Ex result = formula(builder, op.getResult());
    auto most = MaxOp::create(builder, op.getLoc(), result, result.like(0));
    op.getResult().replaceAllUsesExcept(most, most);
  });
};
const Plant productTurned = [](MLIRContext &, Toolchain &toolchain) {
  changeAt<kernel::ProductOp>(toolchain, "kernels", [](kernel::ProductOp op) {
    ArrayRef<int64_t> shape = shapeOf(op.getA());
    if (shape[shape.size() - 1] == shape[shape.size() - 2])
      op.setTransposeA(!op.getTransposeA());
  });
};
/// An array is made where one of its inputs lies that is read again later.
const Plant placeTaken = [](MLIRContext &, Toolchain &toolchain) {
  changeAt<kernel::FusedOp>(toolchain, "kernels", [](kernel::FusedOp op) {
    auto isLater = [&](Operation *user) {
      return user->getBlock() == op->getBlock() && op->isBeforeInBlock(user);
    };
    for (Value input : op.getInputs()) {
      Operation *source = input.getDefiningOp();
      auto places = source ? source->getAttrOfType<ArrayAttr>("places") : ArrayAttr();
      if (!places || source->getNumResults() != 1 || op->getNumResults() != 1 ||
          input.getType() != op->getResult(0).getType() || llvm::none_of(input.getUsers(), isLater))
        continue;
      op->setAttr("places", places);
      return;
    }
  });
};

const Plant sumOfBroadcast = [](MLIRContext &, Toolchain &toolchain) {
  addFold<ReduceOp>(toolchain, [](ReduceOp op, PatternRewriter &) -> Value {
    auto spread = op.getInput().getDefiningOp<BroadcastOp>();
    bool folds = spread && op.getKind() == ReduceKind::sum &&
                 llvm::none_of(op.getDims(), [&](int64_t d) { return llvm::is_contained(spread.getDims(), d); });
    return folds ? spread.getInput() : Value();
  });
};
const Plant sliceOfPad = [](MLIRContext &, Toolchain &toolchain) {
  addFold<SliceOp>(toolchain, [](SliceOp op, PatternRewriter &rewriter) -> Value {
    auto inner = op.getInput().getDefiningOp<PadOp>();
    if (!inner)
      return {};
    for (auto [d, extent] : llvm::enumerate(shapeOf(inner.getInput()))) // not less what stands in front
      if (op.getOffsets()[d] + std::max<int64_t>(op.getSizes()[d] - 1, 0) * op.getStrides()[d] >= extent)
        return {};
    return SliceOp::create(rewriter, op.getLoc(), inner.getInput(), op.getOffsets(), op.getSizes(), op.getStrides());
  });
};
const Plant reduceOfTranspose = [](MLIRContext &, Toolchain &toolchain) {
  addFold<ReduceOp>(toolchain, [](ReduceOp op, PatternRewriter &rewriter) -> Value {
    auto inner = op.getInput().getDefiningOp<TransposeOp>();
    return inner ? Value(ReduceOp::create(rewriter, op.getLoc(), inner.getInput(), op.getKind(), op.getDims()))
                 : Value();
  });
};
const Plant reshapeOfTranspose = [](MLIRContext &, Toolchain &toolchain) {
  addFold<ReshapeOp>(toolchain, [](ReshapeOp op, PatternRewriter &rewriter) -> Value {
    auto inner = op.getInput().getDefiningOp<TransposeOp>();
    return inner ? Value(ReshapeOp::create(rewriter, op.getLoc(), inner.getInput(), shapeOf(op.getResult()))) : Value();
  });
};

} // namespace

const std::vector<Fault> &faults() {
  static const std::vector<Fault> all = {
      {"derivative", "reverse", "of tanh: 1 - r in place of 1 - r^2", tanhSlope},
      {"derivative", "reverse", "of a quotient by its divisor has the wrong sign", quotientSign},
      {"derivative", "reverse", "of a difference by what is subtracted has the wrong sign", differenceSign},
      {"derivative", "reverse", "of rsqrt lacks its 1/2", rsqrtHalf},
      {"derivative", "reverse", "of a transposition turns on, not back", transposeInverse},
      {"derivative", "reverse", "of a maximum goes to all elements", extremumToAll},
      {"derivative", "reverse", "of a loop forgets what the body takes from outside", capturesForgotten},
      {"derivative", "reverse", "of a running sum runs the same way", cumulateForward},
      {"derivative", "reverse", "of an array keeps the places that were set", replacedBase},
      {"derivative", "reverse", "of an element that is read twice counts once", gatherTwice},
      {"batching", "batched", "a running sum runs over the dimension before its own", cumulateDim},
      {"batching", "batched", "padding changes sides", padSides},
      {"batching", "batched", "a slice begins at 0", sliceOffsets},
      {"batching", "batched", "a loop that goes backwards goes forwards", scanDirection},
      {"lowering", "compiled", "a difference takes its operands the other way round", minuendLast},
      {"lowering", "compiled", "`<=` becomes `<`", orderStrict},
      {"lowering", "compiled", "a maximum starts from 0", largestFromZero},
      {"lowering", "compiled", "a square factor of a product is transposed", productTurned},
      {"lowering", "compiled", "an array takes the place of one that is still read", placeTaken},
      {"fold", "canonical", "the sum of a broadcast forgets how often", sumOfBroadcast},
      {"fold", "canonical", "a slice of padding forgets what stands in front", sliceOfPad},
      {"fold", "canonical", "a reduction of a transposition keeps its dimensions", reduceOfTranspose},
      {"fold", "canonical", "a reshape sees through a transposition", reshapeOfTranspose}};
  return all;
}

} // namespace dyn::fuzz
