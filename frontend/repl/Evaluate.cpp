#include "frontend/repl/Evaluate.h"

#include "frontend/driver/Execution.h"

#include "dialects/Nd/NdOps.h"
#include "dialects/Run/RunOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

#include <cstring>

using namespace mlir;

namespace dyn::repl {
namespace {

/// Constants with more elements are read from memory: code for a large table takes long to make.
constexpr int64_t mostInCode = 64;
/// Elements of a value that is kept: 1 GiB of doubles.
constexpr int64_t mostShown = int64_t(1) << 27;

plan::Element elementOf(Type type) {
  if (type.isInteger(1))
    return plan::Element::i1;
  if (type.isInteger(64))
    return plan::Element::i64;
  return type.isF64() ? plan::Element::f64 : plan::Element::f32;
}

elab::Elem elemOf(plan::Element element) {
  return element == plan::Element::i1    ? elab::Elem::Bool
         : element == plan::Element::i64 ? elab::Elem::Int
                                         : elab::Elem::Real;
}

double elementAt(const void *data, plan::Element element, size_t i) {
  switch (element) {
  case plan::Element::f32:
    return static_cast<const float *>(data)[i];
  case plan::Element::f64:
    return static_cast<const double *>(data)[i];
  case plan::Element::i64:
    return static_cast<double>(static_cast<const int64_t *>(data)[i]);
  case plan::Element::i1:
    return static_cast<const uint8_t *>(data)[i] != 0;
  }
  return 0;
}

/// One function that computes arrays of an evaluator's scratch code and puts each into an arena.
class ArrayProgram {
public:
  explicit ArrayProgram(Location loc) : module(ModuleOp::create(loc)), builder(module->getContext()) {
    plan.name = plan.specFile = "an entry";
    plan.entry = "entry";
    builder.setInsertionPointToEnd(module->getBody());
    auto function = func::FuncOp::create(builder, loc, plan.entry, builder.getFunctionType({}, {}));
    builder.setInsertionPointToEnd(function.addEntryBlock());
  }

  /// The number of the arena that gets the value.
  int64_t add(mlir::Value value) {
    copy(value);
    auto type = cast<RankedTensorType>(value.getType());
    int64_t arena = makeArena(type, "result");
    run::WriteOp::create(builder, value.getLoc(), mapping.lookup(value), arena, 0, "result");
    return arena;
  }
  void finish() { func::ReturnOp::create(builder, builder.getUnknownLoc()); }

  /// Puts the large constants where the program reads them.
  void fill(Session &session) const {
    for (auto &[arena, bytes] : inputs)
      std::memcpy(session.context().arenas[arena], bytes.data(), bytes.size());
  }

  OwningOpRef<ModuleOp> module;
  plan::Plan plan;
  bool draws = false;

private:
  int64_t makeArena(RankedTensorType type, const char *name) {
    int64_t bytes = type.getNumElements() * plan::sizeOf(elementOf(type.getElementType()));
    plan.arenas.push_back({name + std::to_string(plan.arenas.size()), "work", std::max<int64_t>(bytes, 1)});
    return static_cast<int64_t>(plan.arenas.size()) - 1;
  }

  void copy(mlir::Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || mapping.contains(value))
      return;
    for (mlir::Value operand : op->getOperands())
      copy(operand);
    op->walk([&](Operation *inner) {
      draws |= isa<nd::DrawOp>(inner);
      for (mlir::Value operand : inner->getOperands())
        if (operand.getParentRegion() == op->getParentRegion())
          copy(operand);
    });
    auto constant = dyn_cast<nd::ConstantOp>(op);
    if (constant && cast<RankedTensorType>(value.getType()).getNumElements() > mostInCode && read(constant))
      return;
    builder.clone(*op, mapping);
  }

  /// A constant as memory; false when it is one number many times.
  bool read(nd::ConstantOp constant) {
    auto values = dyn_cast<DenseElementsAttr>(constant->getAttr("value"));
    auto type = cast<RankedTensorType>(constant->getResult(0).getType());
    if (!values || values.isSplat() || type.getElementType().isInteger(1))
      return false;
    int64_t arena = makeArena(type, "input");
    ArrayRef<char> raw = values.getRawData();
    inputs.emplace_back(arena, std::string(raw.begin(), raw.end()));
    auto op = run::ReadOp::create(builder, constant.getLoc(), type, arena, 0, "input");
    mapping.map(constant->getResult(0), op.getResult());
    return true;
  }

  OpBuilder builder;
  IRMapping mapping;
  std::vector<std::pair<int64_t, std::string>> inputs;
};

/// The places of a value that are still to be computed.
void collect(elab::Value &value, std::vector<elab::Value *> &arrays) {
  if (value.as<elab::Tensor>())
    arrays.push_back(&value);
  else if (auto *record = value.as<elab::Record>())
    for (auto &[name, field] : record->fields)
      collect(field, arrays);
  else if (auto *tuple = value.as<elab::Tuple>())
    for (auto &item : tuple->items)
      collect(item, arrays);
}

std::shared_ptr<elab::Series> arrayIn(Session &session, int64_t arena, RankedTensorType type) {
  auto series = std::make_shared<elab::Series>();
  series->name = "a value";
  series->shape.assign(type.getShape().begin(), type.getShape().end());
  plan::Element element = elementOf(type.getElementType());
  series->elem = elemOf(element);
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    series->values.push_back(elementAt(session.context().arenas[arena], element, static_cast<size_t>(i)));
  return series;
}

/// Runs the program and puts its arrays in the places of the values that it computes.
bool runProgram(ArrayProgram &program, std::vector<elab::Value *> &arrays, const std::vector<int64_t> &arenas,
                Workspace &work, Timings &timings) {
  std::vector<RankedTensorType> types;
  for (elab::Value *array : arrays) {
    types.push_back(array->as<elab::Tensor>()->type());
    if (int64_t count = types.back().getNumElements(); count > mostShown) {
      work.diags.report(Diag::cannot_compute, Span(), "a value of " + std::to_string(count) + " elements; a session keeps at most " +
                                                          std::to_string(mostShown))
          .help("reduce it, `mean(…)`, or take a part, `x[0:10]`");
      return false;
    }
  }
  if (!lowerToNd(*program.module, work.diags, {}, &timings))
    return false;
  auto compiled = compileNd(*program.module, program.plan, nullptr, work.diags, {}, &timings);
  auto code = compiled ? Code::link(compiled->object, work.diags) : nullptr;
  if (!code)
    return false;
  SessionOptions options;
  options.keepSeries = false;
  auto execution = Execution::create(compiled->plan, code, std::move(options), work.diags);
  if (!execution)
    return false;
  program.fill(execution->session());
  Stopwatch watch;
  const Outcome &outcome = execution->run();
  timings.push_back({"run", watch.lap()});
  if (outcome.status != DYN_OK) {
    work.diags.report(Diag::stopped, Span(), outcome.message);
    return false;
  }
  for (size_t i = 0; i < arrays.size(); ++i)
    arrays[i]->payload = arrayIn(execution->session(), arenas[i], types[i]);
  return true;
}

} // namespace

std::optional<Evaluated> evaluate(const ast::Expr &expr, Workspace &work, const Library &names, Timings &timings) {
  Stopwatch watch;
  elab::ExpectEvaluator evaluator(work.mlirContext(), work.diags, names, work.globals);
  evaluator.allowDraws();
  auto value = evaluator.elaborated(expr);
  timings.push_back({"elaborate", watch.lap()});
  if (!value)
    return std::nullopt;
  std::vector<elab::Value *> arrays;
  collect(*value, arrays);
  if (arrays.empty())
    return Evaluated{std::move(*value), false};
  ArrayProgram program(UnknownLoc::get(&work.mlirContext()));
  std::vector<int64_t> arenas;
  for (elab::Value *array : arrays)
    arenas.push_back(program.add(array->as<elab::Tensor>()->value));
  program.finish();
  if (!runProgram(program, arrays, arenas, work, timings))
    return std::nullopt;
  return Evaluated{std::move(*value), program.draws};
}

} // namespace dyn::repl
