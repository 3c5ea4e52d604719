// NoAllocation_check.cpp - a run that uses every function of Functions.def in each of 1,200 steps. With libno_alloc.so
// preloaded it shows that none of them allocates.
#include "runtime/Scratch.h"
#include "runtime/Session.h"

#include <cstdio>

using namespace dyn;

namespace {

plan::Plan busyPlan() {
  plan::Plan plan;
  plan.name = "busy";
  plan.total = 1200;
  plan.seeded = true;
  plan.arenas = {{"a", "params", 4 * 128 * 128}, {"b", "work", 4 * 128 * 128}, {"c", "work", 4 * 128 * 128},
                 {"chunk", "work", 8 * 16},      {"x", "field", 8 * 100},      {"draws", "work", 8 * 40000}};
  plan.params = {{"W", {128, 128}, plan::Element::f32, 0, 0, ""}};
  plan::Source source;
  source.name = "rows";
  source.format = "synthetic";
  source.rows = 100;
  source.chunk = 16;
  source.fields = {{"x", {}, plan::Element::f64, 0}};
  source.chunkArenas = {3};
  source.function = "data";
  plan.sources = {source};
  plan.sets = {{"rows", 0, 0, 100, true, 0, {4}}};
  plan.feeds = {{"rows", 0, 32, true, false}, {"rows", 0, 64, false, false}};
  plan.events = {{"step", 10, {}}, {"epoch", 1, {}}};
  plan.metrics = {{"loss", "step", {}, {}, {}}};
  plan.products = {{plan::Element::f32, 1, 128, 128, 128, false, true},
                   {plan::Element::f32, 1, 32, 10, 32, true, false},
                   {plan::Element::f64, 4, 16, 16, 16, false, false}};
  plan.parts = {{"program", "loop", {}, -1, 0, 0, false}, {"metric", "loss", {}, 0, 8, 0, false}};
  return plan;
}

void rowsDone(void *, int64_t, int64_t) {}

/// One matrix or line each, larger than LAPACK's blocks.
void callRoutines(DynContext *ctx) {
  constexpr int64_t n = 80;
  static double a[n * n], b[n * n], c[n * n], d[n * n], scratch[dyn::scratch::svd(n, n, 8)];
  static int64_t places[n * n];
  for (int64_t i = 0; i < n * n; ++i)
    a[i] = i / n == i % n ? 100 : double(i * 7 % 11);
  auto call = [&](auto routine, std::initializer_list<int64_t> numbers, std::initializer_list<void *> arrays) {
    routine(ctx, -1, 1, numbers.begin(), arrays.begin());
  };
  call(dyn_argsort, {1, n * n, 1, 1, 0, n * n}, {a, places, scratch});
  call(dyn_cholesky, {1, n}, {a, b});
  call(dyn_qr, {1, n, n}, {a, b, c, scratch});
  call(dyn_eigh, {1, n}, {a, b, c, scratch});
  call(dyn_svd, {1, n, n}, {a, b, c, d, scratch});
  call(dyn_solve, {1, n, n}, {a, b, c, scratch});
  call(dyn_triangular_solve, {1, n, n, 0}, {a, b, c});
  call(dyn_log_det, {1, n}, {a, b, c, scratch});
  call(dyn_fft, {1, n, 0}, {a, b, scratch});
}

void loop(DynContext *ctx) {
  dyn_part_begin(ctx, 0);
  while (dyn_loop_next(ctx)) {
    if (dyn_due(ctx, 1))
      for (dyn_batches_begin(ctx, 1); dyn_batches_next(ctx, 1);)
        dyn_parallel_for(ctx, rowsDone, nullptr, 64, 8);
    dyn_next_batch(ctx, 0);
    for (int64_t product = 0; product < 3; ++product)
      dyn_matmul(ctx, product, ctx->arenas[0], ctx->arenas[1], ctx->arenas[2], rowsDone, nullptr);
    int64_t counter[4] = {ctx->clock.step, 0, 0, 0};
    dyn_draw(ctx, 1, 1, 3, 7, counter, 0, ctx->arenas[5], ctx->clock.step % 16 ? 100 : 40000);
    dyn_part_begin(ctx, 1);
    dyn_emit(ctx, 0, 1, ctx->arenas[5]);
    dyn_part_end(ctx, 1);
    callRoutines(ctx);
    dyn_step_done(ctx);
  }
  dyn_part_end(ctx, 0);
}

} // namespace

int main(int argc, char **argv) {
  auto lookup = [](const std::string &name) -> Entry {
    return name == "data" ? Entry([](DynContext *) {}) : Entry(loop);
  };
  SessionOptions options;
  options.threads = 2;
  options.progress = true;
  if (argc > 1)
    options.directory = argv[1];
  auto session = Session::create(busyPlan(), lookup, std::move(options));
  if (!session || !(*session)->load().isOk())
    return 1;
  Outcome outcome = (*session)->run();
  std::fprintf(stderr, "%s%s\n", outcome.message.c_str(), outcome.output.message().c_str());
  return outcome.exitCode();
}
