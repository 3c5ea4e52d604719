//===- Functions.cpp - what generated code calls --------------------------===//
#include "runtime/SessionInternals.h"

#include "runtime/Random.h"

#include <algorithm>

using namespace dyn;

bool DynRuntime::due(int64_t number) const {
  const Event &event = events[static_cast<size_t>(number)];
  // What is due at the step of a stop was measured before it.
  if (isStopped() && event.kind != EventKind::end)
    return false;
  switch (event.kind) {
  case EventKind::step:
    return ctx.clock.step % event.every == 0;
  case EventKind::epoch:
    // A pass may end in this very update, or several when a step takes many batches.
    return previousEpoch < 0 || ctx.clock.epoch / event.every > previousEpoch / event.every;
  case EventKind::end:
    return ctx.clock.step >= ctx.clock.total;
  case EventKind::running:
    return true;
  case EventKind::at:
    return std::binary_search(event.at.begin(), event.at.end(), ctx.clock.step);
  }
  return false;
}

void DynRuntime::makeBatch(size_t feed) {
  if (queue)
    noteDevice(queue->wait()); // kernels may still read the rows before
  Status made = makers[feed]->make(ctx.clock.step * plan.feeds[feed].batch);
  if (!made.isOk()) {
    dataError = made.message();
    ctx.status = DYN_BAD_DATA;
  }
  feeds[feed].rewind();
  feeds[feed].nextInOrder(batches[feed]);
}

void DynRuntime::noteDevice(Status status) {
  if (status.isOk() || ctx.status != DYN_OK)
    return;
  deviceError = status.message();
  dyn_fail(&ctx, DYN_DEVICE_FAILED, -1, 0, 0);
}

namespace {

/// Draws so long that threads help; pieces are even, so that blocks are not made twice.
constexpr int64_t longDraw = 32768, drawPiece = 4096;

struct DrawCall {
  Distribution distribution;
  DrawElement element;
  uint64_t key, site;
  const int64_t *counter;
  int64_t base;
  char *out;

  static void piece(void *self, int64_t lo, int64_t hi) {
    const DrawCall &call = *static_cast<DrawCall *>(self);
    int64_t bytes = call.element == DrawElement::f32 ? 4 : 8;
    draw(call.distribution, call.element, call.key, call.site, call.counter, call.base + lo, call.out + lo * bytes,
         hi - lo);
  }
};

/// Waits at the gate with all metrics delivered; nonzero to go on.
int32_t heldAt(StepGate &gate, DynContext &ctx) {
  ctx.runtime->metrics.hush();
  bool on = gate.wait();
  ctx.runtime->metrics.resume();
  if (!on)
    ctx.status = DYN_INTERRUPTED;
  return on;
}

} // namespace

extern "C" {

void dyn_parallel_for(DynContext *ctx, DynRange body, void *closure, int64_t extent, int64_t grain) {
  ctx->runtime->pool->parallelFor(body, closure, extent, grain);
}

void dyn_matmul(DynContext *ctx, int64_t product, const void *a, const void *b, void *c, DynRange epilogue,
                void *closure) {
  ctx->runtime->products.run(product, a, b, c, epilogue, closure);
}

void dyn_draw(DynContext *ctx, int32_t distribution, int32_t element, int32_t stream, int64_t site,
              const int64_t *counter, int64_t base, void *out, int64_t count) {
  DrawCall call{Distribution(distribution), DrawElement(element), ctx->seeds[stream],       uint64_t(site),
                counter,                    base,                 static_cast<char *>(out)};
  if (count >= longDraw && ctx->runtime)
    ctx->runtime->pool->parallelFor(DrawCall::piece, &call, count, drawPiece);
  else
    DrawCall::piece(&call, 0, count);
}

void dyn_emit(DynContext *ctx, int64_t metric, int32_t element, const void *values) {
  DynRuntime &runtime = *ctx->runtime;
  bool epoch = runtime.clockIsEpoch[static_cast<size_t>(metric)];
  runtime.metrics.emit(metric, element, values, epoch ? ctx->clock.epoch : ctx->clock.step);
}

int32_t dyn_loop_next(DynContext *ctx) {
  if (ctx->runtime->isStopped())
    ctx->clock.total = ctx->clock.step;
  if (ctx->status == DYN_OK)
    ctx->runtime->betweenSteps();
  if (ctx->status != DYN_OK || ctx->clock.step >= ctx->clock.total)
    return 0;
  if (DynRuntime::interrupted()) {
    ctx->status = DYN_INTERRUPTED;
    return 0;
  }
  StepGate *gate = ctx->runtime->options.gate;
  return gate && gate->holds(ctx->clock.step) ? heldAt(*gate, *ctx) : 1;
}

void dyn_step_done(DynContext *ctx) {
  DynRuntime &runtime = *ctx->runtime;
  runtime.previousEpoch = ctx->clock.epoch;
  ++ctx->clock.step;
  if (!runtime.feeds.empty())
    ctx->clock.epoch = runtime.feeds[0].passes();
  runtime.metrics.setClock(ctx->clock.step, ctx->clock.epoch);
  if (runtime.hooks.step)
    runtime.hooks.step(ctx->clock.step);
}

int32_t dyn_due(DynContext *ctx, int64_t event) {
  // After a failure or an interrupt nothing more is measured: the loop is on its way out.
  return ctx->status == DYN_OK && ctx->runtime->due(event);
}

void dyn_next_batch(DynContext *ctx, int64_t feed) {
  DynRuntime &runtime = *ctx->runtime;
  auto number = static_cast<size_t>(feed);
  if (runtime.makers[number])
    runtime.makeBatch(number);
  else
    runtime.feeds[number].next(runtime.batches[number]);
}

void dyn_batches_begin(DynContext *ctx, int64_t feed) { ctx->runtime->feeds[static_cast<size_t>(feed)].rewind(); }

int32_t dyn_batches_next(DynContext *ctx, int64_t feed) {
  DynRuntime &runtime = *ctx->runtime;
  return runtime.feeds[static_cast<size_t>(feed)].nextInOrder(runtime.batches[static_cast<size_t>(feed)]);
}

void dyn_part_begin(DynContext *ctx, int64_t part) { ctx->runtime->clock.begin(part); }

void dyn_part_end(DynContext *ctx, int64_t part) { ctx->runtime->clock.end(part); }

void dyn_launch(DynContext *ctx, const char *code, const char *kernel, int64_t blocks, int64_t threads,
                void **arguments) {
  if (ctx->status == DYN_OK && blocks > 0)
    ctx->runtime->noteDevice(ctx->runtime->queue->launch({code, kernel, blocks, threads, arguments}));
}

void dyn_wait(DynContext *ctx) {
  // Without a device nothing was started: a test runs the kernels on the host.
  if (ctx->runtime->queue)
    ctx->runtime->noteDevice(ctx->runtime->queue->wait());
}

void dyn_fail(DynContext *ctx, int32_t status, int32_t site, int64_t value, int64_t bound) {
  if (ctx->runtime->failed.exchange(true, std::memory_order_acq_rel))
    return;
  ctx->status_site = site;
  ctx->status_value = value;
  ctx->status_bound = bound;
  ctx->status = status;
}

} // extern "C"
