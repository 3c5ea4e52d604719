//===- VerifyFused.cpp - what may still make arrays once fused ------------===//
#include "passes/verify/Passes.h"

#include "dialects/Nd/NdWindow.h"
#include "dialects/Run/RunOps.h"
#include "passes/fuse/Clusters.h"

namespace dyn::verify {
#define GEN_PASS_DEF_VERIFYFUSEDPASS
#include "passes/verify/Passes.h.inc"
} // namespace dyn::verify

using namespace mlir;

namespace dyn::verify {
namespace {

bool hasLoopOfItsOwn(Operation *op) {
  return isa<nd::ScanOp, nd::WhileOp, nd::CondOp, nd::ConcatOp, nd::ScatterOp, nd::CumulateOp, nd::ArgReduceOp,
             nd::DrawOp, nd::SegmentReduceOp, nd::SegmentSpreadOp, nd::UnwindowOp>(op);
}

bool mayMakeArrays(Operation *op) {
  // A scalar as an array is stored by the concat that reads it.
  return isa<kernel::FusedOp, kernel::ProductOp, kernel::CallOp, nd::ConstantOp, nd::ReshapeOp>(op) || fuse::isView(op) ||
         hasLoopOfItsOwn(op) || isa<run::RunDialect>(op->getDialect());
}

struct VerifyFused : impl::VerifyFusedPassBase<VerifyFused> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk<WalkOrder::PreOrder>([](Operation *op) {
      for (Value value : op->getResults()) {
        auto type = dyn_cast<RankedTensorType>(value.getType());
        if (type && type.getEncoding()) {
          op->emitOpError("has a hidden axis left: ") << type;
          return WalkResult::interrupt();
        }
        if (type && type.getRank() > 0 && !mayMakeArrays(op)) {
          op->emitOpError("makes an array outside of a kernel");
          return WalkResult::interrupt();
        }
      }
      return isa<kernel::FusedOp>(op) ? WalkResult::skip() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace dyn::verify
