//===- CompiledUpdate.cpp - The rules of a train alone, ready to step -----===//
#include "bench/CompiledUpdate.h"

#include "bench/Pieces.h"
#include "frontend/Library.h"
#include "frontend/driver/Compile.h"
#include "frontend/elaborate/TrainElaborator.h"
#include "frontend/parse/Parser.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <immintrin.h>
#include <iostream>
#include <sys/mman.h>

using namespace dyn;
using namespace dyn::bench;

namespace {

/// The standard library, and before it the models of one program.
class WithModels : public Library {
public:
  WithModels(const ast::Program &program, const Library &base) : program(program), base(base) {}
  const ast::Decl *find(std::string_view name) const override {
    for (auto &decl : program.declarations)
      if (auto *model = ast::dynCast<ast::ModelDecl>(decl.get()); model && model->name.text == name)
        return decl.get();
    return base.find(name);
  }
  std::vector<std::string> names() const override { return base.names(); }

private:
  const ast::Program &program;
  const Library &base;
};

std::string spec(const std::vector<int64_t> &leaves, const std::string &clauses) {
  std::string text = "model one_leaf(n: int)() -> real {\n  param w: [n] = 0.1\n  return w[0]\n}\n"
                     "model many()() -> real {\n  s = 0.0\n";
  for (int64_t length : leaves)
    text += "  s = s + one_leaf(" + std::to_string(length) + ")()\n";
  return text + "  return s\n}\ntrain update {\n  model f = many()\n  loss f()\n" + clauses + "\n  steps 1\n}\n";
}

__attribute__((target("avx2,fma"))) void triad(float *a, const float *b, const float *c, size_t lo, size_t hi) {
  __m256 s = _mm256_set1_ps(3.f);
  for (size_t i = lo; i + 8 <= hi; i += 8)
    _mm256_store_ps(a + i, _mm256_fmadd_ps(s, _mm256_load_ps(c + i), _mm256_load_ps(b + i)));
}

} // namespace

std::unique_ptr<CompiledUpdate> CompiledUpdate::make(const std::vector<int64_t> &leaves, const std::string &clauses,
                                                     int threads) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  auto failed = [&](const std::string &message) {
    std::cerr << message << "\n";
    return nullptr;
  };
  SpecLibrary library(sources, diags);
  auto program = parse(sources.add("update.dyn", spec(leaves, clauses)), diags);
  if (!program)
    return failed(diags.render());
  WithModels known(*program, library);
  auto context = makeContext();
  elab::TrainRequest request;
  request.decl = ast::cast<ast::TrainDecl>(program->declarations.back().get());
  request.gradientsGiven = true;
  elab::Elaborator elaborator(*context, diags, known, std::make_shared<elab::Scope>());
  auto elaborated = elab::TrainElaborator(elaborator).run(request);
  if (!elaborated || !lowerToNd(*elaborated->module, diags))
    return failed(diags.render());
  auto compiled = compileNd(*elaborated->module, elaborated->plan, nullptr, diags);
  if (!compiled)
    return failed(diags.render());

  auto update = std::make_unique<CompiledUpdate>();
  update->plan = compiled->plan;
  auto jit = Jit::load(compiled->object);
  if (!jit)
    return failed(llvm::toString(jit.takeError()));
  update->jit = std::move(*jit);
  auto lookup = [&](const std::string &name) -> Entry {
    auto entry = update->jit->lookup(name);
    if (entry)
      return *entry;
    llvm::consumeError(entry.takeError());
    return {};
  };
  SessionOptions options;
  options.threads = threads;
  auto session = Session::create(update->plan, lookup, std::move(options));
  if (!session)
    return failed(session.status().message());
  update->session = std::move(*session);
  lookup("init")(&update->session->context());
  update->step = lookup("update");
  return update;
}

void CompiledUpdate::run(int count) {
  DynContext &context = session->context();
  for (int i = 0; i < count; ++i) {
    context.clock.step = done++;
    step(&context);
  }
}

float *CompiledUpdate::arena(const std::string &role) {
  for (size_t i = 0; i < plan.arenas.size(); ++i)
    if (plan.arenas[i].role == role)
      return static_cast<float *>(session->context().arenas[i]);
  return nullptr;
}

float *CompiledUpdate::state(const std::string &ending) {
  for (size_t i = 0; i < plan.arenas.size(); ++i)
    if (plan.arenas[i].name.ends_with(ending))
      return static_cast<float *>(session->context().arenas[i]);
  return nullptr;
}

int64_t CompiledUpdate::bytes(const std::string &role) const {
  int64_t sum = 0;
  for (const plan::Arena &arena : plan.arenas)
    sum += arena.role == role ? arena.bytes : 0;
  return sum;
}

std::vector<int64_t> bench::equalLeaves(int64_t count, int64_t leaves) {
  std::vector<int64_t> lengths(static_cast<size_t>(leaves), count / leaves);
  lengths.back() += count % leaves;
  return lengths;
}

std::vector<int64_t> bench::mixedLeaves(int64_t count, int64_t leaves) {
  int64_t parts = 0, left = count;
  for (int64_t i = 0; i < leaves; ++i)
    parts += 1 + 5 * i % 13;
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < leaves; ++i) {
    lengths.push_back(count * (1 + 5 * i % 13) / parts);
    left -= lengths.back();
  }
  lengths.back() += left;
  return lengths;
}

Triad::Triad(int64_t count)
    : count(count), a(allocate(static_cast<size_t>(count))), b(allocate(static_cast<size_t>(count))),
      c(allocate(static_cast<size_t>(count))) {}

double Triad::seconds(int threads, int repeats) {
  double start = now();
  for (int i = 0; i < repeats; ++i)
    pieces(threads, static_cast<size_t>(count), [this](size_t lo, size_t hi) { triad(a, b, c, lo, hi); });
  return (now() - start) / repeats;
}

double bench::now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double bench::median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

float *bench::allocate(size_t count) {
  size_t bytes = (count * sizeof(float) + (2u << 20) - 1) & ~size_t((2u << 20) - 1);
  void *memory = std::aligned_alloc(2u << 20, bytes);
  madvise(memory, bytes, MADV_HUGEPAGE);
  auto *values = static_cast<float *>(memory);
  std::fill(values, values + count, 0.f);
  return values;
}
