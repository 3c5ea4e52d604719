//===- Series.cpp - metrics of runs, and values computed now --------------===//
//
// An experiment is elaborated like a rule, and its values are then computed by
// the plain evaluator: functions mean the same in both.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/Elaborator.h"
#include "frontend/elaborate/RunResult.h"

#include "dialects/Nd/NdEval.h"

#include <cstring>
#include <limits>

using namespace mlir;

namespace dyn::elab {

//===----------------------------------------------------------------------===//
// Computing now
//===----------------------------------------------------------------------===//

/// Everything that `value` is computed from, operands first; false if some of it is only known in a run.
static bool gather(mlir::Value value, llvm::SetVector<Operation *> &ops) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (ops.contains(op))
    return true;
  for (mlir::Value input : getInputs(op))
    if (!gather(input, ops))
      return false;
  ops.insert(op);
  return true;
}

std::optional<HostArray> Elaborator::hostOf(mlir::Value value, Span span) {
  llvm::SetVector<Operation *> ops;
  if (!gather(value, ops))
    return std::nullopt;
  nd::EvalHooks hooks;
  hooks.foreign = [](Operation *op, ArrayRef<nd::NdArray> operands) -> FailureOr<nd::NdArrays> {
    if (isa<ir::RecastOp, ir::VaryOp>(op))
      return nd::NdArrays{operands.front()};
    return failure();
  };
  bool reported = false;
  hooks.error = [&](Operation *, const llvm::Twine &reason) {
    if (!std::exchange(reported, true))
      diags.report(Diag::cannot_compute, span, reason.str());
  };
  nd::Evaluator evaluator(hooks);
  for (Operation *op : ops) {
    if (hostCache.contains(op->getResult(0)))
      continue;
    nd::NdArrays operands;
    for (mlir::Value operand : op->getOperands())
      operands.push_back(hostCache.lookup(operand));
    auto results = evaluator.evalOp(op, operands, hostCache);
    if (mlir::failed(results))
      return std::nullopt;
    for (auto [result, array] : llvm::zip(op->getResults(), *results))
      hostCache[result] = array;
  }
  const nd::NdArray &array = hostCache[value];
  HostArray host;
  host.shape.assign(array.shape().begin(), array.shape().end());
  auto type = mlir::cast<RankedTensorType>(value.getType());
  host.elem = elemOf(type.getElementType());
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    host.values.push_back(array.at(i));
  return host;
}

std::optional<HostArray> Elaborator::host(const Value &value, Span span) {
  if (auto *c = value.as<Const>())
    return HostArray{{}, {c->number}, c->elem};
  if (auto *series = value.as<std::shared_ptr<Series>>()) {
    HostArray array;
    if (!(*series)->isArray)
      array.shape.push_back(static_cast<int64_t>((*series)->at.size()));
    array.elem = (*series)->elem;
    array.shape.append((*series)->shape.begin(), (*series)->shape.end());
    array.values = (*series)->values;
    return array;
  }
  auto *t = value.as<Tensor>();
  return t ? hostOf(t->value, span) : std::nullopt;
}

Value Elaborator::known(const Value &value, Span span) {
  if (auto *series = value.as<std::shared_ptr<Series>>(); series && (*series)->isArray && (*series)->shape.empty())
    return Value(Const{(*series)->values.front(), (*series)->elem, true, (*series)->name}, span);
  auto *t = value.as<Tensor>();
  if (!t || t->type().getRank() != 0)
    return value;
  auto array = hostOf(t->value, span);
  if (!array)
    return value;
  return Value(Const{array->values[0], array->elem, true, ""}, span);
}

//===----------------------------------------------------------------------===//
// Series
//===----------------------------------------------------------------------===//

Value lastOf(const Series &series, Span span) {
  if (series.shape.empty() && !series.values.empty())
    return Value(Const{series.values.back(), Elem::Real, true, "last(" + series.name + ")"}, span);
  return {};
}

/// Elementwise on series: at the same moments, giving a series again.
Value Elaborator::seriesElementwise(llvm::StringRef op, const Value &a, const Value &b, Span span) {
  auto *x = a.as<std::shared_ptr<Series>>(), *y = b.as<std::shared_ptr<Series>>();
  const Series &model = x ? **x : **y;
  if (x && y && (*x)->at != (*y)->at) {
    diags.report(Diag::series_moments, span, (*x)->name, (*y)->name);
    return {};
  }
  auto plain = [&](const Value &value) -> Value {
    auto t = tensor(value, span);
    return t ? Value(*t, span) : Value();
  };
  Value p = plain(a), q = plain(b);
  if (p.isInvalid() || q.isInvalid())
    return {};
  Value result = elementwise(op, p, q, span);
  auto array = result.isInvalid() ? std::nullopt : host(result, span);
  if (!array)
    return {};
  auto made = std::make_shared<Series>(model);
  made->values = array->values;
  made->elem = array->elem;
  return Value(made, span);
}

/// `x[step >= n]`: the moments at which it holds; `x[i]`: the i-th moment.
Value Elaborator::selectSeries(const Value &value, const ast::IndexExpr &expr, Frame &frame) {
  const Series &series = **value.as<std::shared_ptr<Series>>();
  Span span = expr.span;
  int64_t rows = static_cast<int64_t>(series.at.size());
  auto steps = std::make_shared<Series>();
  steps->name = "step";
  steps->at = steps->values = series.at;
  Frame inner = frame;
  inner.scope = std::make_shared<Scope>(frame.scope);
  inner.scope->define("step", Value(steps, span), NameKind::Socket, span);
  if (expr.indices.size() == 1 && !ast::isa<ast::SliceExpr>(expr.indices[0].get())) {
    Value at = evaluate(*expr.indices[0], inner);
    if (auto *mask = at.as<std::shared_ptr<Series>>()) {
      auto kept = std::make_shared<Series>(series);
      kept->at.clear();
      kept->values.clear();
      int64_t width = rows ? static_cast<int64_t>(series.values.size()) / rows : 0;
      if ((*mask)->at != series.at) {
        diags.report(Diag::series_moments, span, series.name, (*mask)->name);
        return {};
      }
      for (int64_t i = 0; i < rows; ++i)
        if ((*mask)->values[i] != 0) {
          kept->at.push_back(series.at[i]);
          kept->values.insert(kept->values.end(), series.values.begin() + i * width, series.values.begin() + (i + 1) * width);
        }
      return Value(kept, span);
    }
    if (at.isInvalid())
      return {};
  }
  auto t = tensor(value, span);
  bool dropped = false;
  size_t dim = 0;
  for (auto &index : expr.indices) {
    int64_t before = t->type().getRank();
    if (static_cast<int64_t>(dim) >= before) {
      diags.report(Diag::too_many_indices, span, describeType(t->type()), expr.indices.size());
      return {};
    }
    Value next = indexOne(*t, dim, *index, dropped, inner);
    if (next.isInvalid())
      return {};
    t = *next.as<Tensor>();
    dim += t->type().getRank() - before + 1;
  }
  return known(Value(*t, span), span);
}

Value Elaborator::callSeries(const std::string &name, const std::vector<Value> &values, Span span) {
  if (name == "default" || name == "same") {
    if (name == "default")
      return values[0].isInvalid() ? values[1] : values[0];
    auto a = host(values[0], span), b = host(values[1], span);
    if (!a || !b) {
      diags.report(Diag::not_a_number, span, "what `same` compares", describe(a ? values[1] : values[0]));
      return {};
    }
    bool equal = a->shape == b->shape && a->values.size() == b->values.size();
    for (size_t i = 0; equal && i < a->values.size(); ++i)
      equal = std::memcmp(&a->values[i], &b->values[i], sizeof(double)) == 0;
    return boolean(equal, span);
  }
  auto *given = values[0].as<std::shared_ptr<Series>>();
  if (!given) {
    diags.report(Diag::needs_series, span, name, describe(values[0]));
    return {};
  }
  const Series &series = **given;
  if (name == "steps") {
    auto moments = std::make_shared<Series>(series);
    moments->name = "steps(" + series.name + ")";
    moments->shape.clear();
    moments->values = series.at;
    return Value(moments, span);
  }
  if (name == "first_step") {
    double first = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < series.at.size() && i < series.values.size(); ++i)
      if (series.values[i] != 0) {
        first = series.at[i];
        break;
      }
    return Value(Const{first, Elem::Real, true, name}, span);
  }
  if (series.at.empty()) {
    diags.report(Diag::series_empty, span, series.name);
    return {};
  }
  auto t = tensor(values[0], span);
  int64_t row = name == "last" ? static_cast<int64_t>(series.at.size()) - 1 : 0;
  SmallVector<int64_t> offsets(t->type().getRank(), 0), sizes(t->type().getShape()), strides(t->type().getRank(), 1);
  offsets[0] = row;
  sizes[0] = 1;
  auto slice = create<nd::SliceOp>(span, t->value, ArrayRef<int64_t>(offsets), ArrayRef<int64_t>(sizes), ArrayRef<int64_t>(strides));
  return known(Value(Tensor{create<nd::ReshapeOp>(span, slice, t->type().getShape().drop_front()), true, 0}, span), span);
}

Value RunResult::member(const std::vector<std::string> &names, size_t from, DiagnosticEngine &diags, Span span) const {
  if (prefix.empty() && names.size() == from + 1 && names[from] == "diverged")
    return isSketch ? Value() : Value(Const{diverged ? 1.0 : 0.0, Elem::Bool, false, ""}, span);
  std::string path = prefix;
  for (size_t i = from; i < names.size(); ++i)
    path += (path.empty() || path.back() == '.' ? "" : ".") + names[i];
  if (auto it = series.find(path); it != series.end())
    return isSketch ? Value() : Value(it->second, span);
  if (auto it = hyperparameters.find(path); it != hyperparameters.end())
    return Value(Const{it->second, Elem::Real, true, path}, span);
  if (path.starts_with("params."))
    if (auto it = leaves.find(path.substr(7)); it != leaves.end()) {
      Value leaf = it->second;
      leaf.origin = span;
      return leaf;
    }
  if (names.back() == "at" || names.back() == "on") {
    diags.report(Diag::not_supported, span, "`." + names.back() + "` of a run or metric is")
        .help("`x[step >= n]` and `x[i]` choose moments of a metric");
    return {};
  }
  std::vector<std::string> known;
  for (auto &[name, unused] : series)
    known.push_back(name);
  for (auto &[name, unused] : leaves)
    known.push_back("params." + name);
  auto report = diags.report(Diag::run_has_no, span, name, path);
  if (std::string near = nearest(path, known); !near.empty())
    report.help("did you mean `" + near + "`?");
  return {};
}

} // namespace dyn::elab
