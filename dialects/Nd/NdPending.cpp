// Stand-ins until derivatives, batching and folds are in.
#include "dialects/Nd/NdOps.h"
#include "mlir/IR/PatternMatch.h"
using namespace mlir;
using namespace dyn;
using namespace dyn::nd;
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
