//===- NamedChoice.cpp - parts of metrics and sweeps ----------------------===//
//
// By label (`x.at(width=128)`), by what holds (`x[step >= 400]`), by place (`s[5]`).
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/Elaborator.h"
#include "frontend/elaborate/RunResult.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace dyn::elab {

/// What an axis is called in its index: `x[step >= 400]`, `x[width > 32]`.
void Elaborator::bindAxes(const std::vector<Axis> &axes, bool isSketch, Scope &scope, Span span) {
  for (const Axis &axis : axes) {
    if (!axis.words.empty())
      continue;
    auto labels = std::make_shared<Series>();
    labels->name = axis.name;
    labels->axes = {axis};
    labels->values = axis.labels;
    labels->isSketch = isSketch && axis.isMoments;
    scope.define(axis.name, Value(labels, span), NameKind::Socket, span);
  }
}

/// The axis that a mask chooses along, and its positions; nothing after a report.
std::optional<std::pair<size_t, std::vector<int64_t>>>
Elaborator::maskedPositions(const Series &mask, const std::vector<Axis> &axes, const std::string &name, Span span) {
  if (mask.axes.size() != 1) {
    diags.report(Diag::mask_axes, span, mask.axes.size())
        .help("reduce over the others first: `any(…, over=seed)`");
    return std::nullopt;
  }
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i].name == mask.axes.front().name) {
      if (axes[i] == mask.axes.front())
        return std::pair(i, mask.positions());
      if (axes[i].isMoments)
        diags.report(Diag::series_moments, span, name, mask.name);
      else
        diags.report(Diag::axes_differ, span, name, mask.name, axes[i].name);
      return std::nullopt;
    }
  reportNoAxis(name, mask.axes.front().name, axes, span);
  return std::nullopt;
}

void Elaborator::reportNoAxis(const std::string &what, const std::string &name, const std::vector<Axis> &axes, Span span) {
  std::vector<std::string> names;
  for (const Axis &axis : axes)
    names.push_back(axis.name);
  auto report = diags.report(Diag::no_axis, span, what, name);
  if (std::string near = nearest(name, names); !near.empty())
    report.help("did you mean `" + near + "`?");
  else if (names.empty())
    report.help("it has no named axis left");
  else {
    std::string all;
    for (const std::string &axis : names)
      all += (all.empty() ? "`" : ", `") + axis + "`";
    report.help("it has " + all);
  }
}

/// `x[step >= n]`: where it holds; `x[i]`: the i-th along the first axis; further indices are those of an entry.
Value Elaborator::selectSeries(const Value &value, const ast::IndexExpr &expr, Frame &frame) {
  const Series &series = **value.as<std::shared_ptr<Series>>();
  Span span = expr.span;
  Frame inner = frame;
  inner.scope = std::make_shared<Scope>(frame.scope);
  bindAxes(series.axes, series.isSketch, *inner.scope, span);
  if (expr.indices.size() == 1 && !ast::isa<ast::SliceExpr>(expr.indices[0].get())) {
    Value where = evaluate(*expr.indices[0], inner);
    if (where.isInvalid())
      return {};
    if (isSketch(where))
      return value;
    if (auto *mask = where.as<std::shared_ptr<Series>>(); mask && (*mask)->isNamed() && (*mask)->elem == Elem::Bool) {
      auto chosen = maskedPositions(**mask, series.axes, series.name, span);
      return chosen ? Value(std::make_shared<Series>(series.select(chosen->first, chosen->second)), span) : Value();
    }
    auto *position = where.as<Const>();
    if (position && position->elem == Elem::Int && series.isNamed() && (series.axes.size() > 1 || series.lacksSome())) {
      auto place = positionIn(where, series.axes.front().size(), expr.indices[0]->span);
      return place ? settled(series.at(0, *place), span) : Value();
    }
  }
  // What a slice leaves out may be missing.
  auto *slice = expr.indices.size() == 1 ? ast::dynCast<ast::SliceExpr>(expr.indices[0].get()) : nullptr;
  if (slice && series.isNamed() && series.lacksSome()) {
    auto bounds = sliceBounds(*slice, series.axes.front().size(), inner);
    if (!bounds)
      return {};
    auto positions = llvm::to_vector(llvm::seq(bounds->low, bounds->high));
    auto left = tensor(Value(std::make_shared<Series>(series.select(0, positions)), span), span);
    return left ? Value(*left, span) : Value();
  }
  auto t = tensor(value, span);
  if (!t)
    return {};
  auto part = canIndex(*t, expr) ? indexAll(*t, expr, inner) : std::nullopt;
  return part ? known(Value(*part, span), span) : Value();
}

std::optional<int64_t> Elaborator::positionIn(const Value &value, int64_t size, Span span) {
  auto known = knownInt(value, span, "an index");
  if (!known)
    return std::nullopt;
  int64_t position = *known < 0 ? *known + size : *known;
  if (position >= 0 && position < size)
    return position;
  diags.report(Diag::index_out_of_range, span, *known, size)
      .help(size == 0 ? "nothing is left of it"
                      : "positions run from 0 to " + std::to_string(size - 1) + ", or from -1 backwards");
  return std::nullopt;
}

/// `s[5]`, `s[not s.diverged]`, `s[width > 32]`.
Value Elaborator::selectMembers(const std::shared_ptr<RunResult> &sweep, const ast::IndexExpr &expr, Frame &frame) {
  Frame inner = frame;
  inner.scope = std::make_shared<Scope>(frame.scope);
  bindAxes(sweep->axes, false, *inner.scope, expr.span);
  if (expr.indices.size() != 1) {
    diags.report(Diag::too_many_indices, expr.span, "the sweep `" + sweep->name + "`", expr.indices.size())
        .help("`s[5]` is a member by its place in written order, `s.at(…)` by its labels");
    return {};
  }
  const ast::Expr &index = *expr.indices[0];
  Value where = ast::isa<ast::SliceExpr>(&index) ? Value() : evaluate(index, inner);
  if (ast::isa<ast::SliceExpr>(&index))
    diags.report(Diag::index_not_int, index.span, "a slice").help("`s[width > 32]` takes several members by their labels");
  if (where.isInvalid() || isSketch(where))
    return {};
  if (auto *mask = where.as<std::shared_ptr<Series>>(); mask && (*mask)->isNamed() && (*mask)->elem == Elem::Bool) {
    auto chosen = maskedPositions(**mask, sweep->axes, sweep->name, expr.span);
    return chosen ? Value(sweep->select(chosen->first, chosen->second), expr.span) : Value();
  }
  auto position = positionIn(where, static_cast<int64_t>(sweep->members.size()), index.span);
  return position ? Value(sweep->members[static_cast<size_t>(*position)], expr.span) : Value();
}

/// Where the value of `width=128` stands on its axis; nothing after a report.
std::optional<std::pair<size_t, int64_t>>
Elaborator::labelledPosition(const std::vector<Axis> &axes, const ast::Argument &arg, const std::string &what, Frame &frame) {
  if (!arg.name) {
    diags.report(Diag::at_form, arg.span).help("write `at(step=400)`, `at(width=128, seed=0)`");
    return std::nullopt;
  }
  auto axis = llvm::find_if(axes, [&](const Axis &each) { return each.name == arg.name.text; });
  if (axis == axes.end()) {
    reportNoAxis(what, arg.name.text, axes, arg.name.span);
    return std::nullopt;
  }
  size_t number = static_cast<size_t>(axis - axes.begin());
  bool isWord = !axis->words.empty();
  std::optional<int64_t> found = isWord ? axis->find(print(*arg.value)) : std::nullopt;
  if (!found) {
    Value value = known(evaluate(*arg.value, frame), arg.span);
    if (value.isInvalid() || isSketch(value))
      return std::nullopt;
    if (auto *text = value.as<Text>())
      found = axis->find(text->text);
    else if (auto *c = value.as<Const>(); c && !isWord)
      found = axis->find(c->number);
    else if (auto *rule = value.as<Rule>(); rule && !rule->hyper)
      found = axis->find(rule->decl->name.text);
  }
  if (found)
    return std::pair(number, *found);
  auto report = diags.report(Diag::no_label, arg.span, what, arg.name.text, print(*arg.value));
  std::string labels;
  constexpr int64_t mostShown = 12;
  for (int64_t i = 0; i < axis->size() && i < mostShown; ++i)
    labels += (i ? ", " : "") + axis->label(i);
  report.help(labels.empty() ? "nothing is left of it" : "there are " + labels + (axis->size() > mostShown ? " …" : ""));
  return std::nullopt;
}

Value Elaborator::atLabels(const Value &base, const ast::CallExpr &call, Frame &frame) {
  if (auto *run = base.as<std::shared_ptr<RunResult>>()) {
    std::shared_ptr<RunResult> chosen = *run;
    if (!chosen->isSweep()) {
      diags.report(Diag::not_supported, call.span, "`.at` of a run is").help("`x.at(step=400)` is a metric at a moment");
      return {};
    }
    for (const ast::Argument &arg : call.args) {
      auto place = labelledPosition(chosen->axes, arg, "the sweep `" + (*run)->name + "`", frame);
      if (!place)
        return {};
      chosen = chosen->at(place->first, place->second);
    }
    return Value(chosen, call.span);
  }
  Series series = **base.as<std::shared_ptr<Series>>();
  for (const ast::Argument &arg : call.args) {
    if (series.isSketch && arg.name && series.moments() && series.axes.back().name == arg.name.text) {
      series.axes.pop_back();
      continue;
    }
    auto place = labelledPosition(series.axes, arg, "`" + series.name + "`", frame);
    if (!place)
      return {};
    series = series.at(place->first, place->second);
  }
  return settled(std::move(series), call.span);
}

} // namespace dyn::elab
