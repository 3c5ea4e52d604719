#include "frontend/driver/Interpreter.h"

#include "dialects/Nd/NdDraws.h"
#include "dialects/Nd/NdLibraryOps.h"
#include "dialects/Run/RunOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

#include <bit>
#include <cmath>

using namespace mlir;

namespace dyn {

/// Elements of an arena as an array.
static nd::NdArray fetch(const DynContext *ctx, int64_t arena, int64_t offset, RankedTensorType type) {
  const void *base = ctx->arenas[arena];
  nd::Element element = nd::elementOf(type);
  int64_t count = type.getNumElements();
  auto read = [&](auto *typed) {
    using Stored = std::conditional_t<std::is_floating_point_v<std::remove_cvref_t<decltype(*typed)>>, double, int64_t>;
    std::vector<Stored> values(typed + offset, typed + offset + count);
    return nd::NdArray(type.getShape(), element, std::move(values));
  };
  switch (element) {
  case nd::Element::f32: return read(static_cast<const float *>(base));
  case nd::Element::f64: return read(static_cast<const double *>(base));
  case nd::Element::i64: return read(static_cast<const int64_t *>(base));
  case nd::Element::i1: return read(static_cast<const uint8_t *>(base));
  }
  return {};
}

static void put(DynContext *ctx, int64_t arena, int64_t offset, const nd::NdArray &array) {
  void *base = ctx->arenas[arena];
  for (int64_t i = 0; i < array.size(); ++i)
    switch (array.element()) {
    case nd::Element::f32: static_cast<float *>(base)[offset + i] = static_cast<float>(array.floats()[i]); break;
    case nd::Element::f64: static_cast<double *>(base)[offset + i] = array.floats()[i]; break;
    case nd::Element::i64: static_cast<int64_t *>(base)[offset + i] = array.ints()[i]; break;
    case nd::Element::i1: static_cast<uint8_t *>(base)[offset + i] = array.ints()[i] != 0; break;
    }
}

static void emit(DynContext *ctx, int64_t metric, const nd::NdArray &array) {
  if (array.element() == nd::Element::f32) {
    std::vector<float> narrow(array.floats().begin(), array.floats().end());
    dyn_emit(ctx, metric, 0, narrow.data());
  } else if (array.element() == nd::Element::f64)
    dyn_emit(ctx, metric, 1, array.floats().data());
  else
    dyn_emit(ctx, metric, 2, array.ints().data());
}

static int64_t clockOf(const DynContext *ctx, run::ClockKind kind) {
  switch (kind) {
  case run::ClockKind::step: return ctx->clock.step;
  case run::ClockKind::total: return ctx->clock.total;
  case run::ClockKind::epoch: return ctx->clock.epoch;
  case run::ClockKind::rows_base: return ctx->clock.rows_base;
  }
  return 0;
}

FailureOr<nd::NdArrays> Interpreter::effect(Operation *op, ArrayRef<nd::NdArray> operands, DynContext *ctx) {
  nd::NdArrays none;
  return llvm::TypeSwitch<Operation *, FailureOr<nd::NdArrays>>(op)
      .Case([&](run::NumberOp number) { return nd::NdArrays{nd::NdArray::scalar(ctx->numbers[number.getIndex()])}; })
      .Case([&](run::ClockOp clock) { return nd::NdArrays{nd::NdArray::scalar(clockOf(ctx, clock.getKind()))}; })
      .Case([&](run::ReadOp read) {
        return nd::NdArrays{fetch(ctx, read.getArena(), read.getOffset(), cast<RankedTensorType>(read.getType()))};
      })
      .Case([&](run::RowsOp rows) {
        auto type = cast<RankedTensorType>(rows.getType());
        const int64_t *first = ctx->batches[rows.getFeed()].rows;
        return nd::NdArrays{nd::NdArray(type.getShape(), nd::Element::i64, std::vector<int64_t>(first, first + type.getNumElements()))};
      })
      .Case([&](run::CountOp count) { return nd::NdArrays{nd::NdArray::scalar(ctx->batches[count.getFeed()].count)}; })
      .Case([&](run::WriteOp write) {
        put(ctx, write.getArena(), write.getOffset(), operands.front());
        return none;
      })
      .Case([&](run::EmitOp metric) {
        emit(ctx, metric.getMetric(), operands.front());
        return none;
      })
      .Case([&](run::GuardOp guard) -> FailureOr<nd::NdArrays> {
        for (double value : operands.front().floats())
          if (!std::isfinite(value)) {
            dyn_fail(ctx, DYN_NOT_FINITE, static_cast<int32_t>(guard.getSite()), std::bit_cast<int64_t>(value), 0);
            return failure();
          }
        return none;
      })
      .Default([](Operation *) { return failure(); });
}

void Interpreter::call(llvm::StringRef name, DynContext *ctx) {
  auto function = module.lookupSymbol<func::FuncOp>(name);
  nd::EvalHooks hooks;
  hooks.foreign = [&](Operation *op, ArrayRef<nd::NdArray> operands) { return effect(op, operands, ctx); };
  hooks.draw = nd::runtimeDraws({ctx->seeds[0], ctx->seeds[1], ctx->seeds[2], ctx->seeds[3]});
  hooks.observe = observe;
  hooks.error = [&](Operation *op, const llvm::Twine &reason) {
    bool limit = isa<nd::WhileOp>(op);
    int32_t status = limit ? DYN_LIMIT : isa<nd::LibraryCall>(op) ? DYN_NO_RESULT : DYN_BAD_INDEX;
    auto site = op->getAttrOfType<IntegerAttr>("site");
    if (ctx->status == DYN_OK)
      dyn_fail(ctx, status, site ? static_cast<int32_t>(site.getInt()) : -1, 0, 0);
    if (!limit && !site)
      op->emitError(reason);
  };
  nd::Evaluator evaluator(hooks);
  if (failed(evaluator.evalFunction(function.getBody(), {})) && ctx->status == DYN_OK && !observe)
    dyn_fail(ctx, DYN_BAD_INDEX, -1, 0, 0);
}

void Interpreter::program(mlir::Block &block, DynContext *ctx) {
  for (Operation &op : block) {
    if (ctx->status != DYN_OK)
      return;
    if (auto callOp = dyn_cast<run::CallOp>(op))
      call(callOp.getCallee(), ctx);
    else if (auto loop = dyn_cast<run::LoopOp>(op))
      while (dyn_loop_next(ctx))
        program(loop.getBody().front(), ctx);
    else if (auto when = dyn_cast<run::WhenDueOp>(op)) {
      if (dyn_due(ctx, when.getEvent()))
        program(when.getBody().front(), ctx);
    } else if (auto batches = dyn_cast<run::ForBatchesOp>(op)) {
      dyn_batches_begin(ctx, batches.getFeed());
      while (dyn_batches_next(ctx, batches.getFeed()))
        program(batches.getBody().front(), ctx);
    } else if (auto next = dyn_cast<run::NextBatchOp>(op))
      dyn_next_batch(ctx, next.getFeed());
    else if (isa<run::StepDoneOp>(op))
      dyn_step_done(ctx);
  }
}

EntryLookup Interpreter::lookup() {
  return [this](const std::string &name) -> Entry {
    if (module.lookupSymbol<func::FuncOp>(name))
      return [this, name](DynContext *ctx) { call(name, ctx); };
    if (auto whole = module.lookupSymbol<run::ProgramOp>(name))
      return [this, whole](DynContext *ctx) mutable { program(whole.getBody().front(), ctx); };
    return {};
  };
}

} // namespace dyn
