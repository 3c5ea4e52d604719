//===- update_bench.cpp - clip + AdamW at the memory's speed --------------===//
//
// The update of a train alone, on gradients that are given: one pass over the
// gradients for the norm, one that reads p, g, m, v and writes p, m, v. Counted
// as 8 floats a parameter and compared in the same rounds with a STREAM triad
// (3 floats an element) and with the same two passes written by hand.
//
//   update_bench PARAMETERS LEAVES THREADS ROUNDS
//
// One JSON object a line: bench, impl, params, metric, value, unit.
//
//===----------------------------------------------------------------------===//
#include "frontend/driver/Compile.h"
#include "frontend/Library.h"
#include "frontend/elaborate/TrainElaborator.h"
#include "frontend/parse/Parser.h"
#include "runtime/Session.h"
#include "runtime/Threads.h"
#include "runtime/jit/Jit.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <immintrin.h>
#include <iostream>
#include <sys/mman.h>
#include <thread>

using namespace dyn;

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Memory on huge pages, touched.
float *allocate(size_t count) {
  size_t bytes = (count * sizeof(float) + (2u << 20) - 1) & ~size_t((2u << 20) - 1);
  void *memory = std::aligned_alloc(2u << 20, bytes);
  madvise(memory, bytes, MADV_HUGEPAGE);
  auto *values = static_cast<float *>(memory);
  std::fill(values, values + count, 0.f);
  return values;
}

/// Runs body(lo, hi) on `threads` pieces.
template <class F>
void pieces(int threads, size_t count, F body) {
  std::vector<std::thread> others;
  size_t each = (count / threads + 63) & ~size_t(63);
  for (int i = 1; i < threads; ++i)
    others.emplace_back([=] { body(i * each, std::min(count, (i + 1) * each)); });
  body(0, std::min(count, each));
  for (auto &thread : others)
    thread.join();
}

__attribute__((target("avx2,fma"))) void triad(float *a, const float *b, const float *c, size_t lo, size_t hi) {
  __m256 s = _mm256_set1_ps(3.f);
  for (size_t i = lo; i + 8 <= hi; i += 8)
    _mm256_store_ps(a + i, _mm256_fmadd_ps(s, _mm256_load_ps(c + i), _mm256_load_ps(b + i)));
}

__attribute__((target("avx2,fma"))) float squares(const float *g, size_t lo, size_t hi) {
  __m256 sums[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
  size_t i = lo;
  for (; i + 32 <= hi; i += 32)
    for (int k = 0; k < 4; ++k) {
      __m256 x = _mm256_load_ps(g + i + 8 * k);
      sums[k] = _mm256_fmadd_ps(x, x, sums[k]);
    }
  float lanes[8], total = 0;
  for (auto &sum : sums) {
    _mm256_storeu_ps(lanes, sum);
    for (float lane : lanes)
      total += lane;
  }
  for (; i < hi; ++i)
    total += g[i] * g[i];
  return total;
}

struct Rates {
  float scale, beta1, beta2, correct1, correct2, eps, decay, lr;
};

__attribute__((target("avx2,fma"))) void update(float *p, const float *g, float *m, float *v, const Rates &r, size_t lo,
                                                size_t hi) {
  __m256 scale = _mm256_set1_ps(r.scale), b1 = _mm256_set1_ps(r.beta1), c1 = _mm256_set1_ps(1 - r.beta1),
         b2 = _mm256_set1_ps(r.beta2), c2 = _mm256_set1_ps(1 - r.beta2), k1 = _mm256_set1_ps(1 / r.correct1),
         k2 = _mm256_set1_ps(1 / r.correct2), eps = _mm256_set1_ps(r.eps), wd = _mm256_set1_ps(r.decay),
         lr = _mm256_set1_ps(r.lr);
  for (size_t i = lo; i + 8 <= hi; i += 8) {
    __m256 x = _mm256_mul_ps(scale, _mm256_load_ps(g + i));
    __m256 mi = _mm256_fmadd_ps(b1, _mm256_load_ps(m + i), _mm256_mul_ps(c1, x));
    __m256 vi = _mm256_fmadd_ps(b2, _mm256_load_ps(v + i), _mm256_mul_ps(c2, _mm256_mul_ps(x, x)));
    __m256 pi = _mm256_load_ps(p + i);
    __m256 root = _mm256_add_ps(_mm256_sqrt_ps(_mm256_mul_ps(vi, k2)), eps);
    __m256 step = _mm256_fmadd_ps(wd, pi, _mm256_div_ps(_mm256_mul_ps(mi, k1), root));
    _mm256_store_ps(m + i, mi);
    _mm256_store_ps(v + i, vi);
    _mm256_store_ps(p + i, _mm256_fnmadd_ps(lr, step, pi));
  }
}

/// The same update by hand; gives the norm of the gradient.
void byHand(float *p, const float *g, float *m, float *v, size_t count, int64_t t, int threads) {
  std::vector<float> partial(static_cast<size_t>(threads) * 16);
  size_t each = (count / threads + 63) & ~size_t(63);
  pieces(threads, count, [&](size_t lo, size_t hi) { partial[lo / std::max<size_t>(each, 1) * 16] = squares(g, lo, hi); });
  float sum = 0;
  for (size_t i = 0; i < partial.size(); i += 16)
    sum += partial[i];
  float norm = std::sqrt(sum);
  Rates rates{norm <= 1 ? 1 : 1 / norm, 0.9f, 0.999f, float(1 - std::pow(0.9, double(t))), float(1 - std::pow(0.999, double(t))), 1e-8f, 0.01f, 1e-3f};
  pieces(threads, count, [&](size_t lo, size_t hi) { update(p, g, m, v, rates, lo, hi); });
}

void print(const char *impl, const std::string &params, const char *metric, double value, const char *unit) {
  std::printf("{\"bench\": \"update\", \"impl\": \"%s\", \"params\": {%s}, \"metric\": \"%s\", \"value\": %.4g, \"unit\": \"%s\"}\n",
              impl, params.c_str(), metric, value, unit);
}

std::string spec(int64_t count, int64_t leaves) {
  int64_t each = count / leaves, last = count - each * (leaves - 1);
  return "model one_leaf(n: int)() -> real {\n  param w: [n] = 0.1\n  return w[0]\n}\n"
         "model many()() -> real {\n  s = 0.0\n  for i in 0.." + std::to_string(leaves - 1) +
         " { s = s + one_leaf(" + std::to_string(each) + ")() }\n  return s + one_leaf(" + std::to_string(last) +
         ")()\n}\ntrain update {\n  model f = many()\n  loss f()\n  clip by_global_norm(1.0)\n"
         "  optimizer adamw()\n  steps 1\n}\n";
}

} // namespace

int main(int argc, char **argv) {
  int64_t count = argc > 1 ? std::atoll(argv[1]) : 25'000'000, leaves = argc > 2 ? std::atoll(argv[2]) : 1;
  int threads = argc > 3 ? std::atoi(argv[3]) : 1, rounds = argc > 4 ? std::atoi(argv[4]) : 9;
  SourceManager sources;
  DiagnosticEngine diags(sources);
  SpecLibrary library(sources, diags);
  auto program = parse(sources.add("update.dyn", spec(count, leaves)), diags);
  auto fail = [&] {
    std::cerr << diags.render();
    return 1;
  };
  if (!program)
    return fail();
  struct Local : Library {
    const ast::Program &program;
    const Library &base;
    Local(const ast::Program &program, const Library &base) : program(program), base(base) {}
    const ast::Decl *find(std::string_view name) const override {
      for (auto &decl : program.declarations)
        if (auto *model = ast::dynCast<ast::ModelDecl>(decl.get()); model && model->name.text == name)
          return decl.get();
      return base.find(name);
    }
    std::vector<std::string> names() const override { return base.names(); }
  } local(*program, library);
  auto context = makeContext();
  elab::TrainRequest request;
  request.decl = ast::cast<ast::TrainDecl>(program->declarations.back().get());
  request.gradientsGiven = true;
  elab::Elaborator elaborator(*context, diags, local, std::make_shared<elab::Scope>());
  elab::TrainElaborator trainElaborator(elaborator);
  auto elaborated = trainElaborator.run(request);
  if (!elaborated || !lowerToNd(*elaborated->module, diags))
    return fail();
  auto compiled = compileNd(*elaborated->module, elaborated->plan, nullptr, diags);
  if (!compiled)
    return fail();
  auto jit = Jit::load(compiled->object);
  if (!jit)
    return 1;
  auto lookup = [&](const std::string &name) -> Entry {
    auto entry = (*jit)->lookup(name);
    if (!entry) {
      llvm::consumeError(entry.takeError());
      return {};
    }
    return *entry;
  };
  SessionOptions options;
  options.threads = threads;
  auto session = Session::create(compiled->plan, lookup, std::move(options));
  if (!session) {
    std::cerr << session.status().message() << "\n";
    return 1;
  }
  DynContext &ctx = (*session)->context();
  lookup("init")(&ctx);
  Entry step = lookup("update");
  size_t n = static_cast<size_t>(count);
  float *grads = nullptr, *params = static_cast<float *>(ctx.arenas[0]);
  for (size_t i = 0; i < compiled->plan.arenas.size(); ++i)
    if (compiled->plan.arenas[i].role == "grads")
      grads = static_cast<float *>(ctx.arenas[i]);
  float *p = allocate(n), *g = allocate(n), *m = allocate(n), *v = allocate(n);
  for (size_t i = 0; i < n; ++i) {
    grads[i] = g[i] = 0.01f * std::sin(float(i % 1000));
    p[i] = params[i];
  }
  // Small sizes repeat inside a round, so that a round is at least some milliseconds.
  int repeats = static_cast<int>(std::max<int64_t>(1, 2'000'000 / count));
  std::vector<double> ours, hand, stream;
  int64_t t = 0;
  for (int round = -1; round < rounds; ++round) {
    double start = now();
    for (int i = 0; i < repeats; ++i) {
      ctx.clock.step = t + i;
      step(&ctx);
    }
    double mine = (now() - start) / repeats;
    start = now();
    for (int i = 0; i < repeats; ++i)
      byHand(p, g, m, v, n, t + i + 1, threads);
    double theirs = (now() - start) / repeats;
    t += repeats;
    start = now();
    for (int i = 0; i < repeats; ++i)
      pieces(threads, n, [&](size_t lo, size_t hi) { triad(v, m, p, lo, hi); });
    double copy = (now() - start) / repeats;
    // The triad overwrote v: both sides start again from the same state.
    size_t arena = 0;
    for (size_t i = 0; i < compiled->plan.arenas.size(); ++i)
      if (compiled->plan.arenas[i].name.ends_with(".v"))
        arena = i;
    std::copy(static_cast<float *>(ctx.arenas[arena]), static_cast<float *>(ctx.arenas[arena]) + n, v);
    if (round < 0)
      continue;
    ours.push_back(mine);
    hand.push_back(theirs);
    stream.push_back(copy);
  }
  double worst = 0;
  for (size_t i = 0; i + 8 <= n; ++i)
    worst = std::max(worst, double(std::fabs(p[i] - params[i])));
  if (worst > 1e-4) {
    std::fprintf(stderr, "the two updates disagree by %g\n", worst);
    return 1;
  }
  std::string what = "\"parameters\": " + std::to_string(count) + ", \"leaves\": " + std::to_string(leaves) +
                     ", \"threads\": " + std::to_string(threads);
  double bytes = 32.0 * double(n), limit = std::max(bytes / median(hand), 12.0 * double(n) / median(stream));
  print("dync", what, "bandwidth", bytes / median(ours) / 1e9, "GB/s");
  print("by hand", what, "bandwidth", bytes / median(hand) / 1e9, "GB/s");
  print("triad", what, "bandwidth", 12.0 * double(n) / median(stream) / 1e9, "GB/s");
  print("dync", what, "share of the faster limit", bytes / median(ours) / limit, "1");
  print("dync", what, "time", median(ours) * 1e6, "us");
  print("by hand", what, "time", median(hand) * 1e6, "us");
  return 0;
}
