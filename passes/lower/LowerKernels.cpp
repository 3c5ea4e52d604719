//===- LowerKernels.cpp - kernels become loops, effects calls -------------===//
//
// After this pass the module holds LLVM functions whose bodies are scf, cf,
// arith, math, vector and llvm: one for each different kernel, one for each
// function of effects, and the program's loop.
//
//===----------------------------------------------------------------------===//
#include "passes/lower/Abi.h"
#include "passes/lower/Elements.h"
#include "passes/lower/FunctionLowering.h"
#include "passes/lower/Passes.h"
#include "passes/lower/ProductEmitter.h"

namespace dyn::lower {
#define GEN_PASS_DEF_LOWERKERNELSPASS
#include "passes/lower/Passes.h.inc"
} // namespace dyn::lower

using namespace mlir;

namespace dyn::lower {
namespace {

/// Gives equal products of the library one number, in the order in which they occur; the module's `kernel.products` lists
/// [element, batch, m, n, k, transposeA, transposeB], then the window if there is one. Numbers start at `kernel.product_base`.
void numberProducts(ModuleOp module, int64_t vectorBytes) {
  Builder builder(module.getContext());
  auto base = module->getAttrOfType<IntegerAttr>("kernel.product_base");
  SmallVector<Attribute> list;
  module.walk([&](kernel::ProductOp op) {
    if (isWrittenOut(op, vectorBytes))
      return;
    kernel::ProductShape s = kernel::shapeOf(op);
    SmallVector<int64_t> numbers{elementCode(getElementTypeOrSelf(op.getType())), s.batch, s.m, s.n, s.k,
                                 op.getTransposeA(), op.getTransposeB()};
    if (op.getWindow())
      llvm::append_range(numbers, *op.getWindow());
    Attribute row = builder.getDenseI64ArrayAttr(numbers);
    auto *found = llvm::find(list, row);
    op.setProduct((base ? base.getInt() : 0) + (found - list.begin()));
    if (found == list.end())
      list.push_back(row);
  });
  module->setAttr("kernel.products", builder.getArrayAttr(list));
}

/// The loop around the step. Each call is followed by a test of the status; inside regions the rest is skipped.
class ProgramLowering {
public:
  explicit ProgramLowering(run::ProgramOp program) : program(program), b(program.getContext()), loc(program.getLoc()) {}

  void lower() {
    auto module = program->getParentOfType<ModuleOp>();
    std::string name = program.getName().str();
    program.setName(name + ".source");
    b.setInsertionPointToEnd(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {pointerType(b.getContext())});
    auto function = LLVM::LLVMFuncOp::create(b, loc, name, type);
    Block *entry = function.addEntryBlock(b);
    context = entry->getArgument(0);
    b.setInsertionPointToEnd(entry);
    auto part = program->getAttrOfType<IntegerAttr>("part");
    if (part)
      callPart(b, loc, "dyn_part_begin", context, part);
    lowerList(program.getBody().front().begin(), program.getBody().front().end());
    if (part)
      callPart(b, program.getLoc(), "dyn_part_end", context, part);
    LLVM::ReturnOp::create(b, loc, ValueRange());
  }

private:
  Value number(int64_t value) { return i64Constant(b, loc, value); }
  Value isNonzero(Value x) {
    Value zero = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, x, zero);
  }

  void lowerList(Block::iterator at, Block::iterator end) {
    for (; at != end; ++at) {
      loc = at->getLoc();
      if (auto call = dyn_cast<run::CallOp>(*at)) {
        LLVM::CallOp::create(b, loc, TypeRange(), call.getCallee(), ValueRange{context});
        return lowerRest(std::next(at), end);
      }
      if (isa<run::WhenDueOp, run::LoopOp, run::ForBatchesOp>(*at)) {
        lowerRegion(*at);
        return lowerRest(std::next(at), end);
      }
      if (auto next = dyn_cast<run::NextBatchOp>(*at)) {
        callRuntime(b, loc, "dyn_next_batch", {context, number(next.getFeed())});
        return lowerRest(std::next(at), end);
      }
      if (isa<run::StepDoneOp>(*at))
        callRuntime(b, loc, "dyn_step_done", {context});
    }
  }

  /// What follows something that can fail.
  void lowerRest(Block::iterator at, Block::iterator end) {
    if (at == end)
      return;
    auto branch = scf::IfOp::create(b, loc, loadIsOk(b, loc, context), /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    lowerList(at, end);
  }

  void lowerRegion(Operation &op) {
    Block &body = op.getRegion(0).front();
    OpBuilder::InsertionGuard guard(b);
    if (auto due = dyn_cast<run::WhenDueOp>(op)) {
      Value now = callRuntime(b, loc, "dyn_due", {context, number(due.getEvent())});
      auto branch = scf::IfOp::create(b, loc, isNonzero(now), /*withElseRegion=*/false);
      b.setInsertionPointToStart(&branch.getThenRegion().front());
      return lowerList(body.begin(), body.end());
    }
    auto batches = dyn_cast<run::ForBatchesOp>(op);
    if (batches)
      callRuntime(b, loc, "dyn_batches_begin", {context, number(batches.getFeed())});
    auto loop = scf::WhileOp::create(b, loc, TypeRange(), ValueRange());
    b.createBlock(&loop.getBefore());
    Value more = batches ? callRuntime(b, loc, "dyn_batches_next", {context, number(batches.getFeed())})
                         : callRuntime(b, loc, "dyn_loop_next", {context});
    Value go = isNonzero(more);
    if (batches)
      go = arith::AndIOp::create(b, loc, go, loadIsOk(b, loc, context));
    scf::ConditionOp::create(b, loc, go, ValueRange());
    b.createBlock(&loop.getAfter());
    lowerList(body.begin(), body.end());
    scf::YieldOp::create(b, loc);
  }

  run::ProgramOp program;
  OpBuilder b;
  Location loc;
  Value context;
};

struct LowerKernels : impl::LowerKernelsPassBase<LowerKernels> {
  using LowerKernelsPassBase::LowerKernelsPassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    numberProducts(module, vectorBytes);
    declareRuntime(module);
    KernelTable kernels(module, vectorBytes);
    SmallVector<Operation *> sources;
    for (Operation &op : *module.getBody())
      if (isa<func::FuncOp, run::ProgramOp>(op))
        sources.push_back(&op);
    for (Operation *op : sources) {
      if (auto function = dyn_cast<func::FuncOp>(op)) {
        if (failed(FunctionLowering(module, kernels).lower(function)))
          return signalPassFailure();
      } else {
        ProgramLowering(cast<run::ProgramOp>(op)).lower();
      }
    }
    for (Operation *op : sources)
      op->erase();
  }
};

} // namespace
} // namespace dyn::lower
