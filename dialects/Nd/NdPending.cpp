// Stand-ins until derivatives, batching and folds are in.
#include "dialects/Nd/NdOps.h"
#include "mlir/IR/PatternMatch.h"
using namespace mlir;
using namespace dyn;
using namespace dyn::nd;
LogicalResult ConstantOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult ConstantOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef ConstantOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> ConstantOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult IotaOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult IotaOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef IotaOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> IotaOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult DrawOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult DrawOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef DrawOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> DrawOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult BroadcastOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult BroadcastOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef BroadcastOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> BroadcastOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult ReshapeOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult ReshapeOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef ReshapeOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> ReshapeOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult TransposeOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult TransposeOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef TransposeOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> TransposeOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult SliceOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult SliceOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef SliceOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> SliceOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult PadOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult PadOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef PadOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> PadOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult ConcatOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult ConcatOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef ConcatOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> ConcatOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult GatherOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult GatherOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef GatherOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> GatherOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult ScatterOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult ScatterOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef ScatterOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> ScatterOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult ReduceOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult ReduceOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef ReduceOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> ReduceOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult ArgReduceOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult ArgReduceOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef ArgReduceOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> ArgReduceOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult ContractOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult ContractOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef ContractOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> ContractOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult SegmentReduceOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult SegmentReduceOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef SegmentReduceOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> SegmentReduceOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult SegmentSpreadOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult SegmentSpreadOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef SegmentSpreadOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> SegmentSpreadOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult CumulateOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult CumulateOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef CumulateOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> CumulateOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult ScanOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult ScanOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef ScanOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> ScanOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult WhileOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult WhileOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef WhileOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> WhileOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult CondOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult CondOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef CondOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> CondOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult NegOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult NegOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef NegOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> NegOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult AbsOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult AbsOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef AbsOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> AbsOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult SignOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult SignOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef SignOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> SignOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult SqrtOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult SqrtOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef SqrtOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> SqrtOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult RsqrtOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult RsqrtOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef RsqrtOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> RsqrtOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult ExpOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult ExpOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef ExpOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> ExpOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult Expm1Op::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult Expm1Op::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef Expm1Op::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> Expm1Op::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult LogOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult LogOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef LogOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> LogOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult Log1pOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult Log1pOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef Log1pOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> Log1pOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult SinOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult SinOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef SinOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> SinOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult CosOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult CosOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef CosOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> CosOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult TanhOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult TanhOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef TanhOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> TanhOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult SigmoidOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult SigmoidOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef SigmoidOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> SigmoidOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult ErfOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult ErfOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef ErfOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> ErfOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult FloorOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult FloorOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef FloorOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> FloorOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult CeilOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult CeilOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef CeilOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> CeilOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult RoundOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult RoundOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef RoundOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> RoundOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult NotOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult NotOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef NotOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> NotOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult StopGradientOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult StopGradientOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef StopGradientOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> StopGradientOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult AddOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult AddOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef AddOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> AddOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult SubOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult SubOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef SubOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> SubOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult MulOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult MulOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef MulOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> MulOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult DivOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult DivOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef DivOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> DivOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult PowOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult PowOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef PowOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> PowOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult MinOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult MinOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef MinOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> MinOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult MaxOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult MaxOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef MaxOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> MaxOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult RemOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult RemOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef RemOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> RemOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult FloordivOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult FloordivOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef FloordivOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> FloordivOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult AndOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult AndOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef AndOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> AndOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult OrOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult OrOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef OrOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> OrOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult CompareOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult CompareOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef CompareOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> CompareOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult SelectOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult SelectOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef SelectOp::notDifferentiableReason() { return "not there yet"; }
FailureOr<SmallVector<Value>> SelectOp::buildBatched(OpBuilder &, ArrayRef<Value>, ArrayRef<bool>, int64_t) { return failure(); }
LogicalResult CastOp::buildVjp(OpBuilder &, ArrayRef<Value>, const VjpRequest &, SmallVectorImpl<Value> &) { return failure(); }
LogicalResult CastOp::buildJvp(OpBuilder &, ArrayRef<Value>, SmallVectorImpl<Value> &) { return failure(); }
StringRef CastOp::notDifferentiableReason() { return "not there yet"; }
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
