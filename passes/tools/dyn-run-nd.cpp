//===- dyn-run-nd.cpp - compiles functions of the nd stage and runs them --===//
//
//   dyn-run-nd FILE [--check=TOLERANCE] [--print] [--emit=STAGE] [--time=CALLS] [--workers=N] [--seed=N] [--positive]
//              [--function=NAME] [--emulate] [--bits] [--cpu=NAME]
//
// Every function without arguments is compiled and called once. Arenas are as
// large as the file's reads and writes need and filled from the seed; i64
// elements are small and not negative, so that they serve as indices.
// `--check` runs the plain evaluator beside and compares every arena.
//
//===----------------------------------------------------------------------===//
#include "dialects/Nd/NdEval.h"
#include "dialects/Nd/NdOps.h"
#include "dialects/Run/RunOps.h"
#include "passes/RegisterAll.h"
#include "passes/pipeline/Pipelines.h"
#include "runtime/Random.h"
#include "runtime/Session.h"
#include "runtime/jit/Jit.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/xxhash.h"

#include <chrono>
#include <random>

using namespace mlir;
using namespace dyn;
namespace cl = llvm::cl;

static cl::opt<std::string> input(cl::Positional, cl::desc("FILE"), cl::init("-"));
static cl::opt<double> check("check", cl::desc("compare with the evaluator, relative tolerance"), cl::init(-1));
static cl::opt<bool> print("print", cl::desc("print what every write stored and every emit got"));
static cl::opt<std::string> emit("emit", cl::desc("print the module at a stage"));
static cl::opt<int> timeCalls("time", cl::desc("call each function so often and print microseconds a call"));
static cl::opt<int> threads("workers", cl::desc("threads of the runtime"), cl::init(1));
static cl::opt<unsigned> seed("seed", cl::init(1));
static cl::opt<bool> positive("positive", cl::desc("fill arenas with the sizes of normal draws"));
static cl::opt<std::string> only("function", cl::desc("the one function to call"));
static cl::opt<bool> emulate("emulate", cl::desc("as on a device: kernels run block by block, thread by thread"));
static cl::opt<std::string> cpuName("cpu", cl::desc("the processor that code is made for"), cl::init("native"));
static cl::opt<bool> bits("bits", cl::desc("print a hash of every arena after the calls"));
static cl::opt<bool> showTimings("timings", cl::desc("print milliseconds of each stage and pass of the compiler"));

namespace {

using Bytes = std::vector<char>;

/// A range of an arena with the type that it is used at.
struct Range {
  int64_t arena, offset;
  RankedTensorType type;
  int64_t unit() const {
    unsigned bits = type.getElementTypeBitWidth();
    return bits == 1 ? 1 : bits / 8;
  }
};

template <typename Fn> void forEachRange(ModuleOp module, Fn fn) {
  module.walk([&](Operation *op) {
    if (auto read = dyn_cast<run::ReadOp>(op))
      fn(Range{int64_t(read.getArena()), int64_t(read.getOffset()), cast<RankedTensorType>(read.getType())});
    if (auto write = dyn_cast<run::WriteOp>(op))
      fn(Range{int64_t(write.getArena()), int64_t(write.getOffset()),
               cast<RankedTensorType>(write.getValue().getType())});
  });
}

/// Arenas as large as used, filled by element type.
std::vector<Bytes> makeArenas(ModuleOp module) {
  std::vector<Bytes> arenas;
  forEachRange(module, [&](Range range) {
    if (range.arena >= int64_t(arenas.size()))
      arenas.resize(range.arena + 1);
    size_t end = (range.offset + range.type.getNumElements()) * range.unit();
    arenas[range.arena].resize(std::max(arenas[range.arena].size(), end));
  });
  std::mt19937_64 random(seed);
  std::normal_distribution<double> draws;
  auto normal = [&](auto &generator) {
    double x = draws(generator);
    return positive ? std::fabs(x) : x;
  };
  forEachRange(module, [&](Range range) {
    char *at = arenas[range.arena].data() + range.offset * range.unit();
    for (int64_t i = 0; i < range.type.getNumElements(); ++i, at += range.unit()) {
      Type element = range.type.getElementType();
      if (element.isF32())
        *reinterpret_cast<float *>(at) = float(normal(random));
      else if (element.isF64())
        *reinterpret_cast<double *>(at) = normal(random);
      else if (element.isInteger(64))
        *reinterpret_cast<int64_t *>(at) = int64_t(random() % 3);
      else
        *at = char(random() % 2);
    }
  });
  return arenas;
}

double elementAt(const char *at, Type element) {
  if (element.isF32())
    return *reinterpret_cast<const float *>(at);
  if (element.isF64())
    return *reinterpret_cast<const double *>(at);
  if (element.isInteger(64))
    return double(*reinterpret_cast<const int64_t *>(at));
  return *at;
}

nd::NdArray toArray(const char *at, RankedTensorType type) {
  int64_t unit = type.getElementTypeBitWidth() == 1 ? 1 : type.getElementTypeBitWidth() / 8;
  nd::Element element = nd::elementOf(type);
  if (nd::isFloat(element)) {
    std::vector<double> values;
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      values.push_back(elementAt(at + i * unit, type.getElementType()));
    return nd::NdArray(type.getShape(), element, std::move(values));
  }
  std::vector<int64_t> values;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    values.push_back(unit == 1 ? *(at + i) : reinterpret_cast<const int64_t *>(at)[i]);
  return nd::NdArray(type.getShape(), element, std::move(values));
}

void fromArray(const nd::NdArray &array, char *at) {
  for (int64_t i = 0; i < array.size(); ++i) {
    switch (array.element()) {
    case nd::Element::f32:
      reinterpret_cast<float *>(at)[i] = float(array.floats()[i]);
      break;
    case nd::Element::f64:
      reinterpret_cast<double *>(at)[i] = array.floats()[i];
      break;
    case nd::Element::i64:
      reinterpret_cast<int64_t *>(at)[i] = array.ints()[i];
      break;
    case nd::Element::i1:
      at[i] = char(array.ints()[i]);
      break;
    }
  }
}

/// The evaluator with the effects of run.
class Oracle {
public:
  Oracle(std::vector<Bytes> &arenas, DynContext &context) : arenas(arenas), context(context) {}

  LogicalResult run(func::FuncOp function) {
    nd::EvalHooks hooks;
    hooks.foreign = [&](Operation *op, ArrayRef<nd::NdArray> in) { return effect(op, in); };
    hooks.draw = [&](const nd::DrawRequest &request, ArrayRef<int64_t> shape) { return draw(request, shape); };
    nd::Evaluator evaluator(hooks);
    nd::ValueMap values;
    mlir::Block &body = function.getBody().front();
    for (Operation &op : body.without_terminator()) {
      SmallVector<nd::NdArray> operands;
      for (Value operand : op.getOperands())
        operands.push_back(values[operand]);
      auto results = evaluator.evalOp(&op, operands, values);
      if (failed(results))
        return failure();
      for (auto [value, result] : llvm::zip(op.getResults(), *results))
        values[value] = result;
    }
    return success();
  }

private:
  FailureOr<nd::NdArrays> effect(Operation *op, ArrayRef<nd::NdArray> in) {
    nd::NdArrays out;
    if (auto read = dyn_cast<run::ReadOp>(op)) {
      Range range{int64_t(read.getArena()), int64_t(read.getOffset()), cast<RankedTensorType>(read.getType())};
      out.push_back(toArray(arenas[range.arena].data() + range.offset * range.unit(), range.type));
    } else if (auto write = dyn_cast<run::WriteOp>(op)) {
      Range range{int64_t(write.getArena()), int64_t(write.getOffset()),
                  cast<RankedTensorType>(write.getValue().getType())};
      fromArray(in[0], arenas[range.arena].data() + range.offset * range.unit());
    } else if (auto number = dyn_cast<run::NumberOp>(op)) {
      out.push_back(nd::NdArray::scalar(context.numbers[number.getIndex()]));
    } else if (auto clock = dyn_cast<run::ClockOp>(op)) {
      out.push_back(nd::NdArray::scalar((&context.clock.step)[int64_t(clock.getKind())]));
    } else if (!isa<run::EmitOp, run::GuardOp>(op)) {
      return op->emitError("the oracle does not know this effect");
    }
    return out;
  }

  nd::NdArray draw(const nd::DrawRequest &r, ArrayRef<int64_t> shape) {
    int32_t code = r.element == nd::Element::f32 ? 0 : r.element == nd::Element::f64 ? 1 : 2;
    Bytes bytes(r.count * 8);
    dyn_draw(&context, r.distribution, code, r.stream, r.site, r.counter, r.base, bytes.data(), r.count);
    OpBuilder b(&mlirContext);
    Type types[] = {b.getF32Type(), b.getF64Type(), b.getI64Type()};
    return toArray(bytes.data(), RankedTensorType::get(shape, types[code]));
  }

  std::vector<Bytes> &arenas;
  DynContext &context;
  MLIRContext mlirContext;
};

/// Compares written ranges; prints the first few differences.
bool compare(ModuleOp module, DynContext &context, const std::vector<Bytes> &expected) {
  int wrong = 0;
  double worst = 0;
  module.walk([&](run::WriteOp write) {
    Range range{int64_t(write.getArena()), int64_t(write.getOffset()),
                cast<RankedTensorType>(write.getValue().getType())};
    const char *have = static_cast<const char *>(context.arenas[range.arena]) + range.offset * range.unit();
    const char *want = expected[range.arena].data() + range.offset * range.unit();
    Type element = range.type.getElementType();
    double scale = 0;
    for (int64_t i = 0; i < range.type.getNumElements(); ++i)
      if (double x = std::fabs(elementAt(want + i * range.unit(), element)); std::isfinite(x))
        scale = std::max(scale, x);
    for (int64_t i = 0; i < range.type.getNumElements(); ++i) {
      double x = elementAt(have + i * range.unit(), element), y = elementAt(want + i * range.unit(), element);
      bool same =
          x == y || (std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= check * std::max(std::fabs(y), scale * 0.1);
      if (x != y && std::isfinite(x - y))
        worst = std::max(worst, std::fabs(x - y) / std::max(std::fabs(y), scale * 0.1));
      if (!same && wrong++ < 8)
        llvm::outs() << "differs: \"" << write.getName() << "\"[" << i << "]: " << llvm::format("%.17g", x)
                     << ", expected " << llvm::format("%.17g", y) << "\n";
    }
  });
  llvm::outs() << (wrong ? "FAILED" : "ok") << ", largest relative error " << llvm::format("%.2g", worst) << "\n";
  return wrong == 0;
}

void printWrites(ModuleOp module, DynContext &context) {
  module.walk([&](run::WriteOp write) {
    Range range{int64_t(write.getArena()), int64_t(write.getOffset()),
                cast<RankedTensorType>(write.getValue().getType())};
    const char *at = static_cast<const char *>(context.arenas[range.arena]) + range.offset * range.unit();
    llvm::outs() << write.getName() << " =";
    for (int64_t i = 0; i < std::min<int64_t>(range.type.getNumElements(), 64); ++i)
      llvm::outs() << " " << llvm::format("%.9g", elementAt(at + i * range.unit(), range.type.getElementType()));
    llvm::outs() << "\n";
  });
}

/// Numbers, metrics and guards that the file names.
void fillPlan(ModuleOp module, plan::Plan &plan) {
  plan.name = "dyn-run-nd";
  plan.total = 1;
  module.walk([&](Operation *op) {
    if (auto number = dyn_cast<run::NumberOp>(op)) {
      plan.numbers.resize(std::max<size_t>(plan.numbers.size(), number.getIndex() + 1));
      plan.numbers[number.getIndex()] = {number.getName().str(), 0.01 * double(number.getIndex() + 1), ""};
    }
    if (auto emitOp = dyn_cast<run::EmitOp>(op)) {
      plan.metrics.resize(std::max<size_t>(plan.metrics.size(), emitOp.getMetric() + 1));
      plan::Metric &metric = plan.metrics[emitOp.getMetric()];
      metric.name = "metric" + std::to_string(emitOp.getMetric());
      metric.shape.assign(nd::shapeOf(emitOp.getValue()).begin(), nd::shapeOf(emitOp.getValue()).end());
      for (size_t i = 0; i < metric.shape.size(); ++i)
        metric.axes.push_back("axis" + std::to_string(i));
      metric.labels.resize(metric.shape.size());
    }
    if (auto guard = dyn_cast<run::GuardOp>(op)) {
      plan.sites.resize(std::max<size_t>(plan.sites.size(), guard.getSite() + 1));
      plan.sites[guard.getSite()] = {"guard", guard.getWhat().str(), ""};
    }
  });
}

int fail(const llvm::Twine &why) {
  llvm::errs() << "dyn-run-nd: " << why << "\n";
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "compiles functions of the nd stage and runs them\n");
  DialectRegistry registry;
  registerAllDynDialects(registry);
  registerPipelineDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(input, &context);
  if (!module)
    return 1;
  OwningOpRef<ModuleOp> source(cast<ModuleOp>(module->clone()));
  std::vector<Bytes> arenas = makeArenas(*module);
  plan::Plan plan;
  fillPlan(*module, plan);
  for (auto [i, bytes] : llvm::enumerate(arenas))
    plan.arenas.push_back({"arena" + std::to_string(i), "state", int64_t(bytes.size())});
  Timings timings;
  StageHook hook = [&](StringRef stage, ModuleOp at) {
    if (emit == stage)
      at.print(llvm::outs());
  };
  std::optional<TargetOptions> processor = TargetOptions::named(cpuName);
  if (!processor)
    return fail("no such processor");
  Target target = emulate ? Target::emulated() : Target::cpu(*processor);
  FailureOr<std::string> object = compileToObject(*module, plan, target, hook, &timings);
  if (failed(object))
    return fail("compilation failed");
  if (showTimings) {
    double total = 0;
    for (const Timing &stage : timings)
      total += stage.milliseconds;
    llvm::outs() << describe(timings)
                 << llvm::format("%8.2f ms  in all\nobject: %zu bytes, work: %lld bytes\n", total, object->size(),
                                 (long long)plan.arenas.back().bytes);
  }
  auto jit = Jit::load(*object);
  if (!jit)
    return fail(llvm::toString(jit.takeError()));
  SmallVector<func::FuncOp> functions(source->getOps<func::FuncOp>());
  if (!only.empty())
    llvm::erase_if(functions, [](func::FuncOp function) { return function.getName() != only; });
  if (functions.empty())
    return fail("no functions");
  plan.entry = functions.front().getName().str();
  std::string problem;
  EntryLookup lookup = [&](const std::string &name) -> Entry {
    auto entry = (*jit)->lookup(name);
    if (entry)
      return *entry;
    problem = llvm::toString(entry.takeError());
    return {};
  };
  SessionOptions options;
  options.threads = threads;
  auto session = Session::create(plan, lookup, std::move(options));
  if (!session)
    return fail("no session: " + session.status().message() + problem);
  DynContext &runtime = (*session)->context();
  auto refill = [&] {
    for (auto [i, bytes] : llvm::enumerate(arenas))
      std::memcpy(runtime.arenas[i], bytes.data(), bytes.size());
  };
  refill();
  for (func::FuncOp function : functions) {
    auto entry = (*jit)->lookup(function.getName());
    if (!entry)
      return fail(llvm::toString(entry.takeError()));
    (*entry)(&runtime);
    if (runtime.status)
      llvm::outs() << function.getName() << ": status " << runtime.status << " at site " << runtime.status_site
                   << ", value " << runtime.status_value << ", bound " << runtime.status_bound << "\n";
  }
  if (print)
    printWrites(*source, runtime);
  if (bits)
    for (auto [i, bytes] : llvm::enumerate(arenas))
      llvm::outs() << "arena " << i << ": "
                   << llvm::format_hex_no_prefix(llvm::xxh3_64bits(ArrayRef<uint8_t>(
                                                     static_cast<const uint8_t *>(runtime.arenas[i]), bytes.size())),
                                                 16)
                   << "\n";
  if (check >= 0) {
    std::vector<Bytes> expected = arenas;
    Oracle oracle(expected, runtime);
    for (func::FuncOp function : functions)
      if (failed(oracle.run(function)))
        return fail("the evaluator failed");
    if (!compare(*source, runtime, expected))
      return 1;
  }
  for (func::FuncOp function : functions) {
    if (!timeCalls)
      break;
    DynEntry entry = llvm::cantFail((*jit)->lookup(function.getName()));
    double best = 1e30;
    for (int round = 0; round < 5; ++round) {
      refill();
      auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < timeCalls; ++i)
        entry(&runtime);
      std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
      best = std::min(best, took.count() / timeCalls);
    }
    llvm::outs() << function.getName() << llvm::format(": %.3f microseconds a call", best)
                 << (runtime.status ? ", but it failed" : "") << "\n";
  }
  return 0;
}
