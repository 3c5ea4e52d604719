//===- RunResult.cpp - finished runs as values of an experiment -----------===//
#include "frontend/elaborate/RunResult.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

namespace dyn::elab {

/// `leaf` with the paths of its arrays; an axis without labels counts from 0.
static Axis axisOf(const plan::Metric &metric, size_t i) {
  Axis axis{metric.axes[i], {}, {}, false};
  if (i < metric.labels.size())
    axis.words = metric.labels[i];
  for (int64_t at = 0; axis.words.empty() && at < metric.shape[i]; ++at)
    axis.labels.push_back(static_cast<double>(at));
  return axis;
}

std::shared_ptr<Series> seriesOf(const plan::Metric &metric, llvm::ArrayRef<int64_t> at, llvm::ArrayRef<double> rows) {
  auto made = std::make_shared<Series>();
  made->name = metric.name;
  for (size_t i = 0; i < metric.axes.size(); ++i)
    made->axes.push_back(axisOf(metric, i));
  size_t places = static_cast<size_t>(made->entries());
  made->axes.push_back({metric.clock, {at.begin(), at.end()}, {}, true});
  made->shape.assign(metric.shape.begin() + static_cast<int64_t>(metric.axes.size()), metric.shape.end());
  size_t width = static_cast<size_t>(made->width());
  for (size_t place = 0; place < places; ++place)
    for (size_t moment = 0; moment < at.size(); ++moment)
      llvm::append_range(made->values, rows.slice((moment * places + place) * width, width));
  return made;
}

/// What a run that diverged measured and is not finite says nothing: such entries are missing.
static Value withoutSpoilt(const std::shared_ptr<Series> &series, const RunResult &run) {
  auto isFinite = [](double x) { return std::isfinite(x); };
  if (!run.diverged || llvm::all_of(series->values, isFinite))
    return Value(series);
  auto gap = std::make_shared<Gap>(
      Gap{": `" + run.name + "` diverged at step " + std::to_string(run.divergedAt) + ", and it is not finite there",
          "claims about divergence read `" + run.name + ".diverged`; `x[step < n]` chooses moments before it", true});
  auto made = std::make_shared<Series>(*series);
  made->missing.resize(static_cast<size_t>(made->entries()));
  int64_t width = made->width();
  for (int64_t entry = 0; entry < made->entries(); ++entry)
    if (!llvm::all_of(llvm::ArrayRef(made->values).slice(static_cast<size_t>(entry * width), static_cast<size_t>(width)), isFinite))
      made->missing[static_cast<size_t>(entry)] = gap;
  return Value(made);
}

using NamedArrays = std::vector<std::pair<std::string, Value>>;

/// Arrays by path as one tree; null where one is not known.
static std::shared_ptr<Series> treeOf(std::initializer_list<const NamedArrays *> lists, const std::string &name) {
  auto made = std::make_shared<Series>();
  made->name = name;
  made->shape = {0};
  for (const NamedArrays *list : lists)
    for (auto &[path, value] : *list) {
      auto *array = value.as<std::shared_ptr<Series>>();
      if (!array)
        return nullptr;
      made->tree.push_back({path, (*array)->shape});
      made->values.insert(made->values.end(), (*array)->values.begin(), (*array)->values.end());
      made->shape.front() += (*array)->width();
    }
  return made;
}

/// Of a run: a metric, `diverged`, a hyperparameter, a parameter or a state of a rule; invalid when there is none.
Value RunResult::find(const std::string &path, Span span) const {
  if (path == "diverged")
    return Value(Const{diverged ? 1.0 : 0.0, Elem::Bool, false, ""}, span);
  if (auto it = series.find(path); it != series.end())
    return withoutSpoilt(it->second, *this);
  if (auto it = hyperparameters.find(path); it != hyperparameters.end())
    return Value(Const{it->second, Elem::Real, true, path}, span);
  bool isParameter = path == "params" || path.starts_with("params.");
  auto all = isParameter ? tree(false) : treeOf({&ruleStates}, path);
  if (!all || path == "params")
    return all ? withoutSpoilt(all, *this) : Value();
  auto part = all->below(isParameter ? path.substr(7) : path);
  return part ? withoutSpoilt(std::make_shared<Series>(std::move(*part)), *this) : Value();
}

bool RunResult::measures(const std::string &first) const {
  auto isBelow = [&](auto &metric) { return metric.first == first || metric.first.starts_with(first + "."); };
  return llvm::any_of(series, isBelow) || hyperparameters.count(first);
}

std::shared_ptr<Series> RunResult::tree(bool withStates) const {
  return withStates ? treeOf({&leaves, &states}, "params") : treeOf({&leaves}, "params");
}

/// As an array, to stand beside those of other members.
static std::shared_ptr<Series> asSeries(const Value &value) {
  if (auto *series = value.as<std::shared_ptr<Series>>())
    return *series;
  auto *number = value.as<Const>();
  if (!number)
    return nullptr;
  auto made = std::make_shared<Series>();
  made->values = {number->number};
  made->elem = number->elem;
  return made;
}

Value RunResult::findInMembers(const std::string &path, DiagnosticEngine &diags, Span span) const {
  if (members.empty()) {
    auto like = model ? asSeries(model->find(path, span)) : nullptr;
    return like ? Value(std::make_shared<Series>(stackNone(*like, axes)), span) : Value();
  }
  std::vector<std::shared_ptr<Series>> parts;
  for (auto &member : members)
    parts.push_back(asSeries(member->find(path, span)));
  if (llvm::all_of(parts, [](auto &part) { return part == nullptr; }))
    return {};
  auto whole = stackMembers(path, axes, parts);
  if (whole) {
    whole->isSketch |= isSketch;
    return Value(std::make_shared<Series>(std::move(*whole)), span);
  }
  std::string first;
  for (const Axis &axis : axes)
    first += (first.empty() ? "" : ", ") + axis.name + "=" + axis.label(0);
  diags.report(Diag::member_shapes, span, path, name).help("take one member: `" + name + ".at(" + first + ")." + path + "`");
  return {};
}

std::vector<std::string> RunResult::known() const {
  std::vector<std::string> names = {"diverged"};
  for (auto &[metric, unused] : series)
    names.push_back(metric);
  // Parameters and states of rules, and each tree of those below a path.
  auto add = [&](const NamedArrays &arrays, const std::string &before) {
    for (auto &[path, unused] : arrays)
      for (size_t end = 0; end != std::string::npos;) {
        end = path.find('.', end + 1);
        names.push_back(before + path.substr(0, end));
      }
  };
  add(leaves, "params.");
  add(ruleStates, "");
  names.push_back("params");
  return names;
}

Value RunResult::member(const std::vector<std::string> &names, size_t from, DiagnosticEngine &diags, Span span) const {
  std::string path = prefix;
  for (size_t i = from; i < names.size(); ++i)
    path += (path.empty() || path.back() == '.' ? "" : ".") + names[i];
  size_t errors = diags.errorCount();
  Value found = isSweep() ? findInMembers(path, diags, span) : find(path, span);
  if (auto *series = found.as<std::shared_ptr<Series>>()) {
    auto named = std::make_shared<Series>(**series);
    named->name = name + "." + path;
    found = Value(named, span);
  }
  if (!found.isInvalid() || diags.errorCount() != errors)
    return !isSketch || elab::isSketch(found) ? found : Value();
  // A parameter of a run that is only checked has no value, and is known all the same.
  bool isKnown = llvm::any_of(members, [&](auto &member) { return llvm::is_contained(member->known(), path); });
  if (isSketch && (isKnown || llvm::is_contained(known(), path)))
    return {};
  auto report = isSweep() ? diags.report(Diag::sweep_has_no, span, name, path) : diags.report(Diag::run_has_no, span, name, path);
  if (std::string near = nearest(path, isSweep() ? anyMember()->known() : known()); !near.empty())
    report.help("did you mean `" + near + "`?");
  return {};
}

std::shared_ptr<RunResult> RunResult::select(size_t axis, llvm::ArrayRef<int64_t> positions) const {
  auto made = std::make_shared<RunResult>(*this);
  // The labels of an array with these axes, whose entries are the members' numbers.
  Series numbers;
  numbers.axes = axes;
  for (size_t i = 0; i < members.size(); ++i)
    numbers.values.push_back(static_cast<double>(i));
  Series chosen = numbers.select(axis, positions);
  made->axes = chosen.axes;
  if (!members.empty())
    made->model = members.front();
  made->members.clear();
  for (double number : chosen.values)
    made->members.push_back(members[static_cast<size_t>(number)]);
  return made;
}

std::shared_ptr<RunResult> RunResult::at(size_t axis, int64_t position) const {
  auto made = select(axis, position);
  made->axes.erase(made->axes.begin() + axis);
  return made->isSweep() ? made : made->members.front();
}

} // namespace dyn::elab
