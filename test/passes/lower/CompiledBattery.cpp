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
#include "conformance/Samples.h"
#include "dialects/Nd/NdEval.h"
#include "dialects/Nd/NdOps.h"
#include "dialects/Run/RunOps.h"
#include "passes/RegisterAll.h"
#include "passes/pipeline/Pipelines.h"
#include "runtime/Session.h"
#include "runtime/jit/Jit.h"

#include "mlir/Parser/Parser.h"

#include <cmath>
#include <cstdio>
#include <cstring>

using namespace mlir;
using namespace dyn;

namespace {

int64_t unitOf(nd::Element element) {
  switch (element) {
  case nd::Element::f32:
    return 4;
  case nd::Element::i1:
    return 1;
  default:
    return 8;
  }
}

std::vector<char> toBytes(const nd::NdArray &array) {
  int64_t unit = unitOf(array.element());
  std::vector<char> bytes(array.size() * unit);
  for (int64_t i = 0; i < array.size(); ++i) {
    char *at = bytes.data() + i * unit;
    if (array.element() == nd::Element::f32) {
      float x = float(array.floats()[i]);
      std::memcpy(at, &x, 4);
    } else if (array.element() == nd::Element::f64) {
      std::memcpy(at, &array.floats()[i], 8);
    } else if (unit == 8) {
      std::memcpy(at, &array.ints()[i], 8);
    } else {
      *at = char(array.ints()[i]);
    }
  }
  return bytes;
}

double elementAt(const char *at, nd::Element element) {
  float f;
  double d;
  int64_t n;
  switch (element) {
  case nd::Element::f32:
    std::memcpy(&f, at, 4);
    return f;
  case nd::Element::f64:
    std::memcpy(&d, at, 8);
    return d;
  case nd::Element::i64:
    std::memcpy(&n, at, 8);
    return double(n);
  case nd::Element::i1:
    return *at;
  }
  return 0;
}

/// @f becomes @run: argument i is read from arena i, result j written to the arena that `targets` gets. That is one of
/// its own, or (`inPlace`) that of an argument of its type, which loses its old elements while they may still be in
/// use.
func::FuncOp makeEffects(ModuleOp module, bool inPlace, std::vector<int64_t> &targets) {
  auto f = module.lookupSymbol<func::FuncOp>("f");
  OpBuilder b(module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  auto run = func::FuncOp::create(b, f.getLoc(), "run", b.getFunctionType({}, {}));
  b.setInsertionPointToStart(run.addEntryBlock());
  IRMapping mapping;
  int64_t arena = 0;
  for (BlockArgument argument : f.getArguments())
    mapping.map(argument, run::ReadOp::create(b, f.getLoc(), argument.getType(), b.getI64IntegerAttr(arena++),
                                              b.getI64IntegerAttr(0), b.getStringAttr("argument"))
                              .getResult());
  Block &body = f.getBody().front();
  for (Operation &op : body.without_terminator())
    b.clone(op, mapping);
  std::vector<bool> taken(f.getNumArguments());
  auto targetOf = [&](Value value) -> int64_t {
    for (auto [i, argument] : llvm::enumerate(f.getArguments())) {
      if (!inPlace || taken[i] || argument.getType() != value.getType())
        continue;
      taken[i] = true;
      return int64_t(i);
    }
    return -1;
  };
  func::ReturnOp::create(b, f.getLoc());
  for (auto [j, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    int64_t target = targetOf(value);
    Value mapped = mapping.lookupOrDefault(value);
    // Every other write in place stands right behind its value.
    if (target >= 0 && j % 2 && !isa<run::ReadOp>(mapped.getDefiningOp()))
      b.setInsertionPointAfter(mapped.getDefiningOp());
    else
      b.setInsertionPoint(run.getBody().front().getTerminator());
    targets.push_back(target >= 0 ? target : arena + int64_t(j));
    run::WriteOp::create(b, f.getLoc(), mapped, b.getI64IntegerAttr(targets.back()), b.getI64IntegerAttr(0),
                         b.getStringAttr("result"));
  }
  f.erase();
  return run;
}

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
    nd::Evaluator evaluator(hooks());
    auto expected = evaluator.evalFunction(f.getBody(), arguments);
    if (failed(expected))
      return fail(label, "cannot be evaluated", text);
    targets.clear();
    makeEffects(*module, sample.op == "program", targets);
    plan::Plan plan;
    plan.name = "battery";
    plan.total = 1;
    plan.entry = "run";
    std::vector<std::vector<char>> inputs;
    for (const nd::NdArray &argument : arguments)
      inputs.push_back(toBytes(argument));
    for (const auto &bytes : inputs)
      plan.arenas.push_back({"in", "state", int64_t(bytes.size())});
    for (const nd::NdArray &result : *expected)
      plan.arenas.push_back({"out", "state", result.size() * unitOf(result.element())});
    auto object = compileToObject(*module, plan, Target::cpu(), [](StringRef stage, ModuleOp at) {
      if (const char *wanted = std::getenv("BATTERY_STAGE"); wanted && stage == wanted)
        at.print(llvm::errs());
    });
    if (failed(object))
      return fail(label, "does not compile", text);
    auto jit = Jit::load(*object);
    if (!jit)
      return fail(label, llvm::toString(jit.takeError()), text);
    std::vector<std::vector<char>> first;
    for (int threads : {1, 3}) {
      std::vector<std::vector<char>> results = call(**jit, plan, inputs, *expected, threads, label, text);
      if (threads == 1) {
        first = results;
        compare(results, *expected, single, label, text);
      } else if (results != first) {
        fail(label, "bits depend on threads", text);
      }
    }
  }

  int count = 0, wrong = 0;

private:
  static nd::EvalHooks hooks() {
    nd::EvalHooks hooks;
    hooks.draw = [](const nd::DrawRequest &r, ArrayRef<int64_t> shape) {
      DynContext context = {};
      std::vector<char> bytes(r.count * 8);
      int32_t code = r.element == nd::Element::f32 ? 0 : r.element == nd::Element::f64 ? 1 : 2;
      dyn_draw(&context, r.distribution, code, r.stream, r.site, r.counter, r.base, bytes.data(), r.count);
      if (code == 2) {
        std::vector<int64_t> values(r.count);
        std::memcpy(values.data(), bytes.data(), r.count * 8);
        return nd::NdArray(shape, r.element, values);
      }
      std::vector<double> values;
      for (int64_t i = 0; i < r.count; ++i)
        values.push_back(elementAt(bytes.data() + i * unitOf(r.element), r.element));
      return nd::NdArray(shape, r.element, values);
    };
    return hooks;
  }

  std::vector<std::vector<char>> call(Jit &jit, const plan::Plan &plan, const std::vector<std::vector<char>> &inputs,
                                      const nd::NdArrays &expected, int threads, const std::string &label,
                                      const std::string &text) {
    std::vector<std::vector<char>> results;
    EntryLookup lookup = [&](const std::string &name) -> Entry {
      auto entry = jit.lookup(name);
      if (entry)
        return *entry;
      llvm::consumeError(entry.takeError());
      return {};
    };
    SessionOptions options;
    options.threads = threads;
    auto session = Session::create(plan, lookup, std::move(options));
    if (!session) {
      fail(label, session.status().message(), text);
      return results;
    }
    DynContext &runtime = (*session)->context();
    std::fill_n(runtime.seeds, 4, 0);
    for (auto [i, bytes] : llvm::enumerate(inputs))
      std::memcpy(runtime.arenas[i], bytes.data(), bytes.size());
    llvm::cantFail(jit.lookup("run"))(&runtime);
    if (runtime.status != DYN_OK)
      fail(label, "stopped with status " + std::to_string(runtime.status), text);
    for (auto [j, array] : llvm::enumerate(expected)) {
      const char *at = static_cast<const char *>(runtime.arenas[targets[j]]);
      results.emplace_back(at, at + array.size() * unitOf(array.element()));
    }
    return results;
  }

  void compare(const std::vector<std::vector<char>> &results, const nd::NdArrays &expected, bool single,
               const std::string &label, const std::string &text) {
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
        double x = elementAt(results[j].data() + i * unitOf(want.element()), want.element()), y = want.at(i);
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
  std::vector<int64_t> targets; ///< arena of each result
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
