//===- NamedReductions.cpp - `mean(x, over=seed)` --------------------------===//
//
// Over moments a reduction takes those that a member has; over a swept name every member counts, so that what one
// lacks is missing in the result. Of nothing `count` and `sum` are 0; whatever else is computed of nothing is missing,
// `any` and `all` too: a claim about nobody would hold.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/Elaborator.h"
#include "frontend/elaborate/RunResult.h"

using namespace mlir;

namespace dyn::elab {

/// `over=seed`, `over=(width, seed)`: axes by number, in order; nothing after a report.
std::optional<std::vector<size_t>> Elaborator::axesOver(const Series &series, const ast::Expr *over) {
  std::vector<size_t> chosen;
  if (!over) {
    for (size_t i = 0; i < series.axes.size(); ++i)
      chosen.push_back(i);
    return chosen;
  }
  std::vector<const ast::Expr *> names = {over};
  if (auto *group = ast::dynCast<ast::GroupExpr>(over)) {
    names.clear();
    for (auto &item : group->items)
      names.push_back(item.get());
  }
  for (const ast::Expr *each : names) {
    auto *name = ast::dynCast<ast::NameExpr>(each);
    auto axis = name ? series.axis(name->name) : std::nullopt;
    if (!axis) {
      reportNoAxis("`" + series.name + "`", print(*each), series.axes, each->span);
      return std::nullopt;
    }
    if (llvm::is_contained(chosen, *axis)) {
      diags.report(Diag::repeated_argument, each->span, print(*each)).help("leave one of them out");
      return std::nullopt;
    }
    chosen.push_back(*axis);
  }
  llvm::sort(chosen);
  return chosen;
}

namespace {
/// The entries of a series in groups, one for each place of the axes that stay.
struct Groups {
  std::vector<Axis> kept;
  std::vector<std::vector<int64_t>> entries; ///< those that are there
  std::vector<GapPtr> missing;               ///< why the group has no result: some member lacks what it would need
  bool even = true;                          ///< all groups have as many
};
} // namespace

/// What a member of a group has nothing for.
static GapPtr lackedBy(const std::string &member) {
  return member.empty() ? notMeasured() : std::make_shared<Gap>(Gap{": there is none of " + member, notMeasured()->help});
}

/// Of nothing.
static GapPtr nothingLeft(StringRef function) {
  return std::make_shared<Gap>(Gap{": `" + function.str() + "` is of nothing",
                                   "what its condition chooses from has no such entry: claim that there are some first, "
                                   "`count(…) > 0`, or choose others"});
}

static Groups groupsOf(const std::string &name, const Series &series, ArrayRef<size_t> over) {
  bool ofNothing = name == "sum" || name == "count";
  bool countsEntries = name == "count" && series.elem != Elem::Bool;
  Groups groups;
  Series members; // of a group: without moments, of which each has its own
  for (size_t i = 0; i < series.axes.size(); ++i)
    if (!llvm::is_contained(over, i))
      groups.kept.push_back(series.axes[i]);
    else if (!series.axes[i].isMoments)
      members.axes.push_back(series.axes[i]);
  Series shape;
  shape.axes = groups.kept;
  groups.entries.resize(static_cast<size_t>(shape.entries()));
  groups.missing.resize(groups.entries.size());
  std::vector<std::map<int64_t, bool>> hasSome(groups.entries.size());
  for (int64_t entry = 0; entry < series.entries(); ++entry) {
    int64_t group = 0, member = 0, groupStride = 1, memberStride = 1, rest = entry;
    for (size_t i = series.axes.size(); i-- > 0;) {
      int64_t size = series.axes[i].size(), position = rest % size;
      rest /= size;
      if (!llvm::is_contained(over, i)) {
        group += position * groupStride;
        groupStride *= size;
      } else if (!series.axes[i].isMoments) {
        member += position * memberStride;
        memberStride *= size;
      }
    }
    bool there = series.isMeasured(entry);
    hasSome[static_cast<size_t>(group)][member] |= there;
    if (there)
      groups.entries[static_cast<size_t>(group)].push_back(entry);
    if (GapPtr gap = series.gap(entry); there && gap && !countsEntries)
      groups.missing[static_cast<size_t>(group)] = gap;
  }
  for (size_t group = 0; group < groups.entries.size(); ++group) {
    for (auto &[member, some] : hasSome[group])
      if (!some && !groups.missing[group])
        groups.missing[group] = lackedBy(members.place(member));
    if (groups.entries[group].empty() && !groups.missing[group] && !ofNothing)
      groups.missing[group] = nothingLeft(name);
    groups.even &= groups.entries[group].size() == groups.entries.front().size();
  }
  return groups;
}

/// Entries one after the other as an array [count, entry…].
static std::shared_ptr<Series> rowsOf(const Series &series, ArrayRef<int64_t> entries) {
  auto rows = std::make_shared<Series>();
  int64_t width = series.width();
  rows->name = series.name;
  rows->elem = series.elem;
  rows->shape = series.shape;
  rows->shape.insert(rows->shape.begin(), static_cast<int64_t>(entries.size()));
  for (int64_t entry : entries)
    rows->values.insert(rows->values.end(), series.values.begin() + entry * width, series.values.begin() + (entry + 1) * width);
  return rows;
}

Value Elaborator::reduceNamed(const std::string &name, const Series &series, const ast::Expr *over, Span span, Frame &frame) {
  auto axes = axesOver(series, over);
  if (!axes)
    return {};
  Series made;
  made.name = series.name;
  made.chosen = series.chosen;
  made.isSketch = series.isSketch;
  for (size_t i = 0; i < series.axes.size(); ++i)
    if (!llvm::is_contained(*axes, i))
      made.axes.push_back(series.axes[i]);
  if (made.isSketch)
    return Value(std::make_shared<Series>(std::move(made)), span); // a number to come, when no axis is left
  Groups groups = groupsOf(name, series, *axes);
  // Along `axis` of arrays [group, element, entry…]; without `over` entries are reduced too.
  auto reduceRows = [&](std::shared_ptr<Series> rows, int axis) {
    ast::NumberExpr number;
    number.value = axis;
    number.isInteger = true;
    number.span = span;
    Value result = reduction(name, Value(*tensor(Value(rows, span), span), span), over ? &number : nullptr, nullptr, span, frame);
    return result.isInvalid() ? std::nullopt : host(result, span);
  };
  auto take = [&](const HostArray &array, size_t first) {
    made.elem = array.elem;
    made.shape.assign(array.shape.begin() + std::min(array.shape.size(), first), array.shape.end());
    made.values.insert(made.values.end(), array.values.begin(), array.values.end());
  };
  if (groups.even && over && !groups.entries.empty() && !groups.entries.front().empty()) {
    std::vector<int64_t> all;
    for (auto &group : groups.entries)
      all.insert(all.end(), group.begin(), group.end());
    auto rows = rowsOf(series, all);
    rows->shape[0] = static_cast<int64_t>(groups.entries.front().size());
    rows->shape.insert(rows->shape.begin(), static_cast<int64_t>(groups.entries.size()));
    auto array = reduceRows(rows, 1);
    if (!array)
      return {};
    take(*array, 1);
    // A count is one number for all groups.
    if (array->shape.empty())
      made.values.assign(groups.entries.size(), array->values.front());
  } else {
    std::vector<HostArray> arrays(groups.entries.size());
    HostArray none;
    for (size_t group = 0; group < arrays.size(); ++group) {
      auto array = groups.missing[group] ? std::optional(HostArray()) : reduceRows(rowsOf(series, groups.entries[group]), 0);
      if (!array)
        return {};
      arrays[group] = std::move(*array);
      if (!groups.missing[group])
        none = HostArray{arrays[group].shape, std::vector<double>(arrays[group].values.size(), 1), arrays[group].elem};
    }
    if (none.values.empty())
      none = {{}, {1}, name == "any" || name == "all" ? Elem::Bool : Elem::Real};
    for (size_t group = 0; group < arrays.size(); ++group)
      take(groups.missing[group] ? none : arrays[group], 0);
  }
  made.missing = groups.missing;
  if (over && made.shape == series.shape)
    made.tree = series.tree;
  made.dropEmptyGaps();
  return settled(std::move(made), span);
}

} // namespace dyn::elab
