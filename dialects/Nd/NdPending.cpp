// Stand-ins until derivatives, batching and folds are in.
#include "dialects/Nd/NdOps.h"
#include "mlir/IR/PatternMatch.h"
using namespace mlir;
using namespace dyn;
using namespace dyn::nd;
FailureOr<SmallVector<Value>> ConstantOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> IotaOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> DrawOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> BroadcastOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> ReshapeOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> TransposeOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> SliceOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> PadOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> ConcatOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> GatherOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> ScatterOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> ReduceOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> ArgReduceOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> ContractOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> SegmentReduceOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> SegmentSpreadOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> CumulateOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> ScanOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> WhileOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> CondOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> NegOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> AbsOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> SignOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> SqrtOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> RsqrtOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> ExpOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> Expm1Op::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> LogOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> Log1pOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> SinOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> CosOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> TanhOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> SigmoidOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> ErfOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> FloorOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> CeilOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> RoundOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> NotOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> StopGradientOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> AddOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> SubOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> MulOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> DivOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> PowOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> MinOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> MaxOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> RemOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> FloordivOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> AndOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> OrOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> CompareOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> SelectOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
FailureOr<SmallVector<Value>> CastOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
OpFoldResult ConstantOp::fold(FoldAdaptor) { return {}; }
OpFoldResult IotaOp::fold(FoldAdaptor) { return {}; }
OpFoldResult BroadcastOp::fold(FoldAdaptor) { return {}; }
OpFoldResult ReshapeOp::fold(FoldAdaptor) { return {}; }
OpFoldResult TransposeOp::fold(FoldAdaptor) { return {}; }
OpFoldResult SliceOp::fold(FoldAdaptor) { return {}; }
OpFoldResult PadOp::fold(FoldAdaptor) { return {}; }
OpFoldResult ConcatOp::fold(FoldAdaptor) { return {}; }
OpFoldResult ReduceOp::fold(FoldAdaptor) { return {}; }
OpFoldResult NegOp::fold(FoldAdaptor) { return {}; }
OpFoldResult AbsOp::fold(FoldAdaptor) { return {}; }
OpFoldResult SignOp::fold(FoldAdaptor) { return {}; }
OpFoldResult SqrtOp::fold(FoldAdaptor) { return {}; }
OpFoldResult RsqrtOp::fold(FoldAdaptor) { return {}; }
OpFoldResult ExpOp::fold(FoldAdaptor) { return {}; }
OpFoldResult Expm1Op::fold(FoldAdaptor) { return {}; }
OpFoldResult LogOp::fold(FoldAdaptor) { return {}; }
OpFoldResult Log1pOp::fold(FoldAdaptor) { return {}; }
OpFoldResult SinOp::fold(FoldAdaptor) { return {}; }
OpFoldResult CosOp::fold(FoldAdaptor) { return {}; }
OpFoldResult TanhOp::fold(FoldAdaptor) { return {}; }
OpFoldResult SigmoidOp::fold(FoldAdaptor) { return {}; }
OpFoldResult ErfOp::fold(FoldAdaptor) { return {}; }
OpFoldResult FloorOp::fold(FoldAdaptor) { return {}; }
OpFoldResult CeilOp::fold(FoldAdaptor) { return {}; }
OpFoldResult RoundOp::fold(FoldAdaptor) { return {}; }
OpFoldResult NotOp::fold(FoldAdaptor) { return {}; }
OpFoldResult AddOp::fold(FoldAdaptor) { return {}; }
OpFoldResult SubOp::fold(FoldAdaptor) { return {}; }
OpFoldResult MulOp::fold(FoldAdaptor) { return {}; }
OpFoldResult DivOp::fold(FoldAdaptor) { return {}; }
OpFoldResult PowOp::fold(FoldAdaptor) { return {}; }
OpFoldResult MinOp::fold(FoldAdaptor) { return {}; }
OpFoldResult MaxOp::fold(FoldAdaptor) { return {}; }
OpFoldResult RemOp::fold(FoldAdaptor) { return {}; }
OpFoldResult FloordivOp::fold(FoldAdaptor) { return {}; }
OpFoldResult AndOp::fold(FoldAdaptor) { return {}; }
OpFoldResult OrOp::fold(FoldAdaptor) { return {}; }
OpFoldResult CompareOp::fold(FoldAdaptor) { return {}; }
OpFoldResult SelectOp::fold(FoldAdaptor) { return {}; }
OpFoldResult CastOp::fold(FoldAdaptor) { return {}; }
void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
void ContractOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
void CondOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
void PowOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
