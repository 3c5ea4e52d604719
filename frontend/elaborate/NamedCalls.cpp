//===- NamedCalls.cpp - functions of what has named axes ------------------===//
//
// A declared parameter takes dimensions from the right. Named ones that are left over in front map: `fn height(w: tree)`
// of a sweep's parameters is one number a run, and `fn best(x: [seeds, steps])` takes a metric of a sweep whole.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/Elaborator.h"
#include "frontend/elaborate/RunResult.h"

using namespace mlir;

namespace dyn::elab {

/// How many of an argument's axes a parameter does not take.
static size_t axesLeft(const Series &series, const ast::Parameter &parameter) {
  auto *array = ast::dynCast<ast::ArrayType>(parameter.type.get());
  auto *named = ast::dynCast<ast::NamedType>(parameter.type.get());
  if (named && named->name.text == "tree")
    return series.axes.size();
  bool isNumber = named && llvm::is_contained({"real", "int", "bool", "f32", "f64", "i64", "class"}, named->name.text);
  if (!array && !isNumber)
    return 0;
  size_t have = series.axes.size() + series.shape.size(), taken = array ? array->shape.size() : 0;
  return std::min(have > taken ? have - taken : 0, series.axes.size());
}

/// An argument at one entry of the axes that map: those of `all`, each at its position.
static Series entryOf(Series series, size_t mapped, ArrayRef<Axis> all, ArrayRef<int64_t> positions) {
  for (size_t left = mapped; left-- > 0;) {
    auto axis = llvm::find_if(all, [&](const Axis &each) { return each.name == series.axes[left].name; });
    series = series.at(left, positions[static_cast<size_t>(axis - all.begin())]);
  }
  return series;
}

std::optional<Value> Elaborator::overEntries(const Function &fn, const std::map<std::string, Value> &given, Span span,
                                             Frame &frame) {
  struct Mapped {
    std::string name;
    const Series *series = nullptr;
    size_t axes = 0;
  };
  std::vector<Mapped> mapped;
  std::vector<Series> heads; // the axes that map, without values
  for (const ast::Parameter &parameter : fn.decl->parameters.items) {
    auto it = given.find(parameter.name.text);
    auto *series = it != given.end() && parameter.type ? it->second.as<std::shared_ptr<Series>>() : nullptr;
    size_t axes = series && meetsByName(it->second) ? axesLeft(**series, parameter) : 0;
    if (!series || (axes == 0 && !isMissing(it->second)))
      continue;
    mapped.push_back({parameter.name.text, series->get(), axes});
    heads.push_back({});
    heads.back().name = (*series)->name;
    heads.back().isSketch = (*series)->isSketch;
    heads.back().axes.assign((*series)->axes.begin(), (*series)->axes.begin() + static_cast<long>(axes));
  }
  if (mapped.empty())
    return std::nullopt;
  SmallVector<const Series *> parts;
  for (const Series &head : heads)
    parts.push_back(&head);
  auto axes = joinAxes(parts, span);
  if (!axes)
    return Value();
  Series place;
  place.name = fn.decl->name.text;
  place.axes = *axes;
  if (llvm::any_of(mapped, [](const Mapped &each) { return each.series->isSketch; })) {
    place.isSketch = true;
    return Value(std::make_shared<Series>(place), span);
  }
  std::vector<std::shared_ptr<Series>> results;
  for (int64_t entry = 0; entry < place.entries(); ++entry) {
    SmallVector<int64_t> positions(axes->size());
    int64_t rest = entry;
    for (size_t i = axes->size(); i-- > 0; rest /= (*axes)[i].size())
      positions[i] = rest % (*axes)[i].size();
    std::map<std::string, Value> one = given;
    GapPtr gap;
    for (const Mapped &each : mapped) {
      auto part = std::make_shared<Series>(entryOf(*each.series, each.axes, *axes, positions));
      if (auto lacks = llvm::find_if(part->missing, [](const GapPtr &each) { return each != nullptr; }); lacks != part->missing.end())
        gap = *lacks;
      one[each.name] = known(Value(part, span), span);
    }
    place.missing.push_back(gap);
    InstantiationScope at(diags, place.place(entry), span);
    Value result = gap ? Value() : callGiven(fn, one, span, frame);
    if (!gap && result.isInvalid())
      return result;
    results.push_back(gap ? nullptr : asEntry(result, span));
    if (!gap && !results.back())
      return Value();
  }
  return stackedEntries(std::move(place), results, span);
}

/// What a function gave at each entry of `place`, null where that is missing, as one array.
Value Elaborator::stackedEntries(Series place, const std::vector<std::shared_ptr<Series>> &results, Span span) {
  if (llvm::all_of(results, [](auto &result) { return result == nullptr; })) {
    place.values.assign(results.size(), 1);
    return settled(std::move(place), span);
  }
  auto whole = stackMembers(place.name, place.axes, results);
  if (!whole) {
    diags.report(Diag::ragged_array, span, "what `" + place.name + "` gives at one entry", "at another");
    return {};
  }
  // Why an argument is missing is why the result is.
  int64_t inner = whole->entries() / static_cast<int64_t>(results.size());
  for (size_t i = 0; i < whole->missing.size(); ++i)
    if (const GapPtr &gap = place.missing[i / static_cast<size_t>(inner)])
      whole->missing[i] = gap;
  return settled(std::move(*whole), span);
}

std::shared_ptr<Series> Elaborator::asEntry(const Value &value, Span span) {
  if (auto *series = value.as<std::shared_ptr<Series>>())
    return *series;
  auto array = host(value, span);
  if (!array)
    return nullptr;
  auto made = std::make_shared<Series>();
  made->shape.assign(array->shape.begin(), array->shape.end());
  made->values = array->values;
  made->elem = array->elem;
  auto *t = value.as<Tensor>();
  if (auto tree = t ? dyn_cast_if_present<ir::TreeAttr>(t->type().getEncoding()) : ir::TreeAttr())
    for (auto [path, shape] : llvm::zip(tree.getPaths(), tree.getShapes()))
      made->tree.push_back({path.str(), shape.asArrayRef().vec()});
  return made;
}

} // namespace dyn::elab
