//===- NamedAxes.cpp - arrays that meet by the names of their axes --------===//
#include "frontend/elaborate/Elaborator.h"
#include "frontend/elaborate/RunResult.h"

#include <cstring>
#include <limits>

using namespace mlir;

namespace dyn::elab {

//===----------------------------------------------------------------------===//
// Meeting by name
//===----------------------------------------------------------------------===//

/// "5 moments of `step`, 3 values of `rate`".
static std::string describeEntries(const Series &series) {
  std::string text;
  for (const Axis &axis : series.axes)
    text += (text.empty() ? "" : ", ") + std::to_string(axis.size()) + (axis.isMoments ? " moments" : " values") + " of `" +
            axis.name + "`";
  return text + (series.shape.empty() ? "" : ", and at each " + describeShape(series.shape));
}

Value lastOf(const Series &series, Span span) {
  if (series.shape.empty() && series.axes.size() == 1 && series.moments() && !series.values.empty())
    return Value(Const{series.values.back(), Elem::Real, true, "last(" + series.name + ")"}, span);
  return {};
}

/// A result as the rest of an experiment takes it: without names a number or an array.
Value Elaborator::settled(Series series, Span span) {
  auto shared = std::make_shared<Series>(std::move(series));
  if (shared->isNamed() || shared->lacksSome())
    return Value(shared, span);
  auto plain = tensor(Value(shared, span), span);
  return plain ? known(Value(*plain, span), span) : Value();
}

std::optional<std::vector<Axis>> Elaborator::joinAxes(ArrayRef<const Series *> parts, Span span) {
  std::vector<Axis> joined;
  std::optional<Axis> moments;
  std::map<std::string, const Series *> from;
  const Series *first = nullptr;
  for (const Series *part : parts)
    for (const Axis &axis : part->axes) {
      if (axis.isMoments) {
        bool known = moments && !part->isSketch && !first->isSketch;
        if (known && *moments != axis) {
          diags.report(Diag::series_moments, span, first->name, part->name);
          return std::nullopt;
        }
        if (!moments || first->isSketch)
          first = part, moments = axis;
        continue;
      }
      auto [other, isNew] = from.emplace(axis.name, part);
      if (isNew)
        joined.push_back(axis);
      else if (const Series &before = *other->second; before.axes[*before.axis(axis.name)] != axis) {
        diags.report(Diag::axes_differ, span, before.name, part->name, axis.name);
        return std::nullopt;
      }
    }
  if (moments)
    joined.push_back(*moments);
  return joined;
}

/// Entries that are missing count as 1, of which everything can be computed; `gaps` learns of them.
static void fillGaps(Series &part, std::vector<GapPtr> &gaps) {
  int64_t width = part.width();
  for (size_t i = 0; i < part.missing.size(); ++i) {
    if (!part.missing[i])
      continue;
    if (!gaps[i] || part.missing[i]->isSpoilt)
      gaps[i] = part.missing[i];
    std::fill_n(part.values.begin() + static_cast<int64_t>(i) * width, width, 1);
  }
  part.missing.clear();
}

Value Elaborator::overNames(ArrayRef<Value> values, Span span, StringRef what,
                            llvm::function_ref<Value(ArrayRef<Value>)> apply) {
  std::vector<Series> parts(values.size());
  SmallVector<const Series *> named;
  SmallVector<int64_t> entry;
  std::vector<TreeLeaf> tree;
  for (auto [value, part] : llvm::zip(values, parts)) {
    if (auto *series = value.as<std::shared_ptr<Series>>()) {
      part = **series;
      if (part.isNamed() || part.lacksSome())
        named.push_back(&part);
    } else if (auto *t = value.as<Tensor>(); t && t->type().getRank() > 0) {
      auto array = host(value, span);
      if (!array)
        return {};
      part.shape.assign(array->shape.begin(), array->shape.end());
      part.values = array->values;
      part.elem = array->elem;
    }
    if (part.isNamed() && entry.empty())
      entry.assign(part.shape.begin(), part.shape.end());
    if (!part.tree.empty() && tree.empty())
      tree = part.tree;
  }
  auto axes = joinAxes(named, span);
  if (!axes)
    return {};
  Series made;
  const SourceFile *file = diags.sources().file(span);
  made.name = named.size() == 1 ? named.front()->name : file ? std::string(file->text(span)) : "this";
  made.chosen = named.size() == 1 ? named.front()->chosen : "";
  made.axes = *axes;
  made.shape.assign(entry.begin(), entry.end());
  made.isSketch = llvm::any_of(named, [](const Series *part) { return part->isSketch; });
  if (made.isSketch)
    return Value(std::make_shared<Series>(made), span);
  made.missing.assign(static_cast<size_t>(made.entries()), nullptr);
  // What has the shape of all is taken as it stands: `r.loss == [84.5, 21.1]`. Another array is that of each entry.
  auto isWhole = [&](const Series &part) { return !part.isNamed() && !part.lacksSome() && (part.shape.empty() || ArrayRef<int64_t>(part.shape) == ArrayRef<int64_t>(made.dims())); };
  for (const Series &part : parts)
    if (!part.isNamed() && !isWhole(part) && ArrayRef<int64_t>(part.shape) != ArrayRef<int64_t>(entry)) {
      diags.report(Diag::shape_mismatch, span, what, describeShape(made.dims()), describeShape(part.shape))
          .note("`" + made.name + "` has " + describeEntries(made))
          .help("take one entry, `x.at(step=3)`, or reduce the others, `mean(x, over=step)`; nothing is broadcast silently");
      return {};
    }
  for (const Series &part : parts)
    if (!part.tree.empty() && part.tree != tree) {
      diags.report(Diag::trees_differ, span, what);
      return {};
    }
  SmallVector<Value> plain;
  for (auto [value, part] : llvm::zip(values, parts)) {
    if (isWhole(part)) {
      plain.push_back(value);
      continue;
    }
    auto wide = std::make_shared<Series>(part.spreadOver(*axes, entry));
    fillGaps(*wide, made.missing);
    auto t = tensor(Value(wide, value.origin), span);
    if (!t)
      return {};
    plain.push_back(Value(*t, value.origin));
  }
  Value result = apply(plain);
  auto array = result.isInvalid() ? std::nullopt : host(result, span);
  if (!array)
    return {};
  made.shape.assign(array->shape.begin() + std::min(array->shape.size(), axes->size()), array->shape.end());
  made.values = array->values;
  made.elem = array->elem;
  if (ArrayRef<int64_t>(made.shape) == ArrayRef<int64_t>(entry))
    made.tree = tree;
  made.dropEmptyGaps();
  return settled(std::move(made), span);
}

//===----------------------------------------------------------------------===//
// Moments
//===----------------------------------------------------------------------===//

/// Each member's entry at the moment that `choose` picks from those that it has; it gives nothing for a default.
static Series alongMoments(const Series &series, llvm::function_ref<std::optional<int64_t>(ArrayRef<int64_t>)> choose,
                           std::optional<double> otherwise = std::nullopt) {
  size_t axis = *series.moments();
  int64_t size = series.axes[axis].size(), width = series.width();
  Series made;
  made.name = series.name;
  made.axes.assign(series.axes.begin(), series.axes.end() - 1);
  made.shape = series.shape;
  made.elem = series.elem;
  made.chosen = series.chosen;
  for (int64_t member = 0; member < made.entries(); ++member) {
    SmallVector<int64_t> there;
    for (int64_t entry = member * size; entry < (member + 1) * size; ++entry)
      if (series.isMeasured(entry))
        there.push_back(entry);
    auto entry = choose(there);
    made.missing.push_back(entry ? series.gap(*entry) : otherwise ? nullptr : notMeasured());
    for (int64_t i = 0; i < width; ++i)
      made.values.push_back(entry ? series.values[static_cast<size_t>(*entry * width + i)] : otherwise.value_or(1));
  }
  made.dropEmptyGaps();
  return made;
}

static Series firstStep(const Series &condition) {
  Series moments = condition;
  moments.shape.clear();
  moments.elem = Elem::Real;
  const Axis &axis = condition.axes.back();
  moments.values.clear();
  for (int64_t entry = 0; entry < condition.entries(); ++entry)
    moments.values.push_back(axis.labels[static_cast<size_t>(entry % axis.size())]);
  // Whether it holds where a value is not finite is not known, and so is nothing from there on.
  auto holds = [&](ArrayRef<int64_t> there) -> std::optional<int64_t> {
    auto found = llvm::find_if(there, [&](int64_t entry) {
      return condition.isMissing(entry) || condition.values[static_cast<size_t>(entry)] != 0;
    });
    return found == there.end() ? std::nullopt : std::optional(*found);
  };
  return alongMoments(moments, holds, std::numeric_limits<double>::infinity());
}

Value Elaborator::callSeries(const std::string &name, const std::vector<Value> &values, Span span) {
  if (llvm::any_of(values, [](const Value &value) { return isSketch(value) && !isNamed(value); }))
    return {};
  if (name == "default")
    return values[0].isInvalid() ? values[1] : values[0];
  if (name == "same")
    return sameBits(values[0], values[1], span);
  auto *given = values[0].as<std::shared_ptr<Series>>();
  if (!given || !(*given)->moments()) {
    diags.report(Diag::needs_series, span, name, describe(values[0]));
    return {};
  }
  const Series &series = **given;
  if (name == "steps") {
    auto moments = std::make_shared<Series>();
    moments->name = "steps(" + series.name + ")";
    moments->axes = {series.axes.back()};
    moments->values = series.axes.back().labels;
    moments->isSketch = series.isSketch;
    return Value(moments, span);
  }
  if (series.isSketch) {
    Series sketch = series;
    sketch.axes.pop_back();
    return settled(std::move(sketch), span);
  }
  if (name == "first_step")
    return settled(firstStep(series), span);
  if (series.axes.back().size() == 0 && series.axes.size() == 1) {
    diags.report(Diag::series_empty, span, series.name);
    return {};
  }
  auto choose = [&](ArrayRef<int64_t> there) -> std::optional<int64_t> {
    return there.empty() ? std::nullopt : std::optional(name == "last" ? there.back() : there.front());
  };
  return settled(alongMoments(series, choose), span);
}

Value Elaborator::sameBits(const Value &x, const Value &y, Span span) {
  if (isSketch(x) || isSketch(y))
    return {};
  size_t errors = diags.errorCount();
  auto a = host(x, span);
  auto b = a ? host(y, span) : std::nullopt;
  if (diags.errorCount() != errors)
    return {};
  if (!a || !b) {
    diags.report(Diag::not_a_number, span, "what `same` compares", describe(a ? y : x));
    return {};
  }
  bool equal = a->shape == b->shape && a->values.size() == b->values.size();
  for (size_t i = 0; equal && i < a->values.size(); ++i)
    equal = std::memcmp(&a->values[i], &b->values[i], sizeof(double)) == 0;
  return boolean(equal, span);
}

} // namespace dyn::elab
