//===- CompiledBattery.cpp - compiled code against the plain evaluator ----===//
//
// Every sample of every op, in f64 and f32, and random programs of many ops: its function becomes one of
// effects (arguments are read from arenas, results written to arenas), is
// compiled and called, and must give what the evaluator gives. The same code
// at 1 and 3 threads must give the same bits.
//
//   compiled-battery [SEEDS] [OP] [ONLY]     BATTERY_TRACE=1, BATTERY_STAGE=kernels: say more
//
//===----------------------------------------------------------------------===//
#include "Programs.h"
#include "conformance/CompiledFunction.h"
#include "conformance/Samples.h"
#include "dialects/Nd/NdEval.h"
#include "passes/RegisterAll.h"
#include "passes/pipeline/Pipelines.h"

#include "mlir/Parser/Parser.h"

#include <cmath>
#include <cstdio>
#include <cstring>

using namespace mlir;
using namespace dyn;

namespace {

class Battery {
public:
  explicit Battery(MLIRContext &context) : context(context) {}

  void run(const conformance::Sample &sample, bool single, uint64_t seed) {
    std::string text = single ? conformance::inSinglePrecision(sample.text) : sample.text;
    std::string label = sample.op + (single ? " f32" : " f64") + " seed " + std::to_string(seed);
    ++count;
    if (std::getenv("BATTERY_TRACE"))
      std::fprintf(stderr, "%s\n", label.c_str());
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return fail(label, "does not parse", text);
    auto f = module->lookupSymbol<func::FuncOp>("f");
    std::vector<nd::NdArray> arguments = conformance::makeArguments(f, sample.ranges, seed);
    nd::Evaluator evaluator(conformance::runtimeDraws());
    auto expected = evaluator.evalFunction(f.getBody(), arguments);
    if (failed(expected))
      return fail(label, "cannot be evaluated", text);
    std::string why;
    auto compiled =
        conformance::CompiledFunction::make(*module, arguments, *expected, sample.op == "program", hook, why);
    if (!compiled)
      return fail(label, why, text);
    std::vector<nd::NdArray> first;
    for (int threads : {1, 3}) {
      auto results = compiled->call(threads, why);
      if (!results)
        return fail(label, why, text);
      if (threads == 1) {
        first = *results;
        compare(*results, *expected, single, label, text);
      } else if (!alike(*results, first)) {
        fail(label, "bits depend on threads", text);
      }
    }
  }

  int count = 0, wrong = 0;

private:
  static void hook(StringRef stage, ModuleOp at) {
    if (const char *wanted = std::getenv("BATTERY_STAGE"); wanted && stage == wanted)
      at.print(llvm::errs());
  }

  /// Whether all elements have the same bits.
  static bool alike(ArrayRef<nd::NdArray> x, ArrayRef<nd::NdArray> y) {
    return llvm::all_of(llvm::zip(x, y), [](auto pair) {
      auto &[a, b] = pair;
      if (!a.isFloat())
        return a.ints() == b.ints();
      return std::memcmp(a.floats().data(), b.floats().data(), a.size() * sizeof(double)) == 0;
    });
  }

  void compare(ArrayRef<nd::NdArray> results, ArrayRef<nd::NdArray> expected, bool single, const std::string &label,
               const std::string &text) {
    // Sums of f32 are not made in f64 as the evaluator does; a handful of roundings either way.
    // Programs make many.
    double tolerance = single ? 4e-6 : 1e-13;
    if (label.starts_with("program"))
      tolerance *= 20;
    for (size_t j = 0; j < results.size(); ++j) {
      const nd::NdArray &want = expected[j];
      double scale = 0;
      for (int64_t i = 0; i < want.size(); ++i)
        if (std::isfinite(want.at(i)))
          scale = std::max(scale, std::fabs(want.at(i)));
      for (int64_t i = 0; i < want.size(); ++i) {
        double x = results[j].at(i), y = want.at(i);
        bool same = x == y || (std::isnan(x) && std::isnan(y)) ||
                    (want.isFloat() && std::fabs(x - y) <= tolerance * std::max(scale * 0.25, std::fabs(y)));
        if (!same) {
          char detail[160];
          std::snprintf(detail, sizeof detail, "result %zu element %lld is %.17g, expected %.17g", j, (long long)i, x,
                        y);
          return fail(label, detail, text);
        }
      }
    }
  }

  void fail(const std::string &label, const std::string &why, const std::string &text) {
    if (++wrong <= 12)
      std::printf("%s: %s\n%s\n", label.c_str(), why.c_str(), text.c_str());
    else
      std::printf("%s: %s\n", label.c_str(), why.c_str());
  }

  MLIRContext &context;
};

} // namespace

int main(int argc, char **argv) {
  uint64_t seeds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2;
  std::string only = argc > 2 ? argv[2] : "";
  DialectRegistry registry;
  registerAllDynDialects(registry);
  registerPipelineDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  Battery battery(context);
  for (uint64_t seed = 1; seed <= seeds; ++seed)
    for (const conformance::Sample &sample : conformance::makeSamples(seed))
      if (only.empty() || sample.op == only)
        for (bool single : {false, true})
          battery.run(sample, single, seed);
  for (uint64_t seed = 1; seed <= 20 * seeds; ++seed)
    if ((only.empty() || only == "program") && (argc < 4 || std::strtoull(argv[3], nullptr, 10) == seed))
      battery.run(conformance::makeProgram(seed), seed % 2, seed);
  std::printf("%d samples, %d failed\n", battery.count, battery.wrong);
  return battery.wrong != 0;
}
