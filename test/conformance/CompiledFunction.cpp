#include "conformance/CompiledFunction.h"

#include "dialects/Nd/NdOps.h"
#include "dialects/Run/RunOps.h"
#include "runtime/Session.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

#include <cstring>

using namespace mlir;

namespace dyn::conformance {
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

template <typename T>
T loadAs(const char *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

nd::NdArray toArray(const char *bytes, ArrayRef<int64_t> shape, nd::Element element) {
  int64_t unit = unitOf(element), count = nd::sizeOf(shape);
  if (nd::isFloat(element)) {
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(unit == 4 ? loadAs<float>(bytes + i * unit) : loadAs<double>(bytes + i * unit));
    return nd::NdArray(shape, element, std::move(values));
  }
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(unit == 8 ? loadAs<int64_t>(bytes + i * unit) : bytes[i]);
  return nd::NdArray(shape, element, std::move(values));
}

/// @f becomes @run: argument i is read from arena i, result j written to the arena that `targets` gets.
void makeEffects(ModuleOp module, bool inPlace, std::vector<int64_t> &targets) {
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
  mlir::Block &body = f.getBody().front();
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
}

} // namespace

nd::EvalHooks runtimeDraws() {
  nd::EvalHooks hooks;
  hooks.draw = [](const nd::DrawRequest &r, ArrayRef<int64_t> shape) {
    DynContext context = {};
    std::vector<char> bytes(r.count * 8);
    int32_t code = r.element == nd::Element::f32 ? 0 : r.element == nd::Element::f64 ? 1 : 2;
    dyn_draw(&context, r.distribution, code, r.stream, r.site, r.counter, r.base, bytes.data(), r.count);
    return toArray(bytes.data(), shape, r.element);
  };
  return hooks;
}

std::optional<CompiledFunction> CompiledFunction::make(ModuleOp module, ArrayRef<nd::NdArray> arguments,
                                                       ArrayRef<nd::NdArray> expected, bool inPlace,
                                                       const StageHook &hook, std::string &why) {
  CompiledFunction result;
  makeEffects(module, inPlace, result.targets);
  result.expected.assign(expected.begin(), expected.end());
  result.plan.name = "function";
  result.plan.total = 1;
  result.plan.entry = "run";
  for (const nd::NdArray &argument : arguments) {
    result.inputs.push_back(toBytes(argument));
    result.plan.arenas.push_back({"in", "state", int64_t(result.inputs.back().size())});
  }
  for (const nd::NdArray &array : expected)
    result.plan.arenas.push_back({"out", "state", array.size() * unitOf(array.element())});
  auto object = compileToObject(module, result.plan, Target::cpu(), hook);
  if (failed(object)) {
    why = "does not compile";
    return std::nullopt;
  }
  auto jit = Jit::load(*object);
  if (!jit) {
    why = llvm::toString(jit.takeError());
    return std::nullopt;
  }
  result.jit = std::move(*jit);
  return result;
}

std::optional<std::vector<nd::NdArray>> CompiledFunction::call(int threads, std::string &why) const {
  EntryLookup lookup = [&](const std::string &name) -> Entry {
    auto entry = jit->lookup(name);
    if (entry)
      return *entry;
    llvm::consumeError(entry.takeError());
    return {};
  };
  SessionOptions options;
  options.threads = threads;
  auto session = Session::create(plan, lookup, std::move(options));
  if (!session) {
    why = session.status().message();
    return std::nullopt;
  }
  DynContext &runtime = (*session)->context();
  std::fill_n(runtime.seeds, 4, 0);
  for (auto [i, bytes] : llvm::enumerate(inputs))
    std::memcpy(runtime.arenas[i], bytes.data(), bytes.size());
  llvm::cantFail(jit->lookup("run"))(&runtime);
  if (runtime.status != DYN_OK) {
    why = "stopped with status " + std::to_string(runtime.status);
    return std::nullopt;
  }
  std::vector<nd::NdArray> results;
  for (auto [j, array] : llvm::enumerate(expected))
    results.push_back(toArray(static_cast<const char *>(runtime.arenas[targets[j]]), array.shape(), array.element()));
  return results;
}

} // namespace dyn::conformance
