//===- Series.cpp - arrays with named axes --------------------------------===//
#include "frontend/elaborate/Series.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace dyn::elab {

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

std::string Axis::label(int64_t at) const {
  if (!words.empty())
    return words[static_cast<size_t>(at)];
  double number = labels[static_cast<size_t>(at)];
  if (std::floor(number) == number && std::abs(number) < 1e15)
    return std::to_string(static_cast<int64_t>(number));
  char text[32];
  auto end = std::to_chars(text, text + sizeof(text), number).ptr;
  return std::string(text, end);
}

std::optional<int64_t> Axis::find(double label) const {
  auto found = std::find(labels.begin(), labels.end(), label);
  return found == labels.end() ? std::nullopt : std::optional<int64_t>(found - labels.begin());
}

std::optional<int64_t> Axis::find(const std::string &word) const {
  auto found = std::find(words.begin(), words.end(), word);
  return found == words.end() ? std::nullopt : std::optional<int64_t>(found - words.begin());
}

static int64_t product(llvm::ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

static int64_t entriesOf(llvm::ArrayRef<Axis> axes) {
  int64_t result = 1;
  for (const Axis &axis : axes)
    result *= axis.size();
  return result;
}

int64_t TreeLeaf::size() const { return product(shape); }
int64_t Series::entries() const { return entriesOf(axes); }
int64_t Series::width() const { return product(shape); }
bool Series::lacksSome() const { return llvm::any_of(missing, [](const GapPtr &gap) { return gap != nullptr; }); }

void Series::dropEmptyGaps() {
  if (!lacksSome())
    missing.clear();
}

GapPtr notMeasured() {
  static const GapPtr gap = std::make_shared<Gap>(
      Gap{"", "a run that ended before or diverged leaves none: choose members, `s[not s.diverged]`, or moments that all "
              "have, `x[step < n]`"});
  return gap;
}

std::optional<size_t> Series::axis(llvm::StringRef wanted) const {
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i].name == wanted)
      return i;
  return std::nullopt;
}

std::optional<size_t> Series::moments() const {
  return !axes.empty() && axes.back().isMoments ? std::optional(axes.size() - 1) : std::nullopt;
}

llvm::SmallVector<int64_t> Series::dims() const {
  llvm::SmallVector<int64_t> sizes;
  for (const Axis &axis : axes)
    sizes.push_back(axis.size());
  sizes.append(shape.begin(), shape.end());
  return sizes;
}

std::string Series::place(int64_t entry) const {
  std::string text;
  for (const Axis &axis : llvm::reverse(axes)) {
    text = axis.name + "=" + axis.label(entry % axis.size()) + (text.empty() ? "" : ", ") + text;
    entry /= axis.size();
  }
  return chosen + (chosen.empty() || text.empty() ? "" : ", ") + text;
}

//===----------------------------------------------------------------------===//
// Parts and unions
//===----------------------------------------------------------------------===//

/// Entries of `from` in a new order: `source(i)` is the entry that stands at i, below 0 for none.
template <class Source>
static void gather(const Series &from, Series &to, Source source) {
  int64_t width = from.width(), count = to.entries();
  to.shape = from.shape;
  to.values.assign(static_cast<size_t>(count * width), 1);
  to.missing.assign(static_cast<size_t>(count), nullptr);
  for (int64_t i = 0; i < count; ++i) {
    int64_t entry = source(i);
    if (entry < 0 || !from.isMeasured(entry)) {
      // Its value is 1, of which everything can be computed.
      to.missing[static_cast<size_t>(i)] = entry < 0 ? notMeasured() : from.gap(entry);
      continue;
    }
    to.missing[static_cast<size_t>(i)] = from.gap(entry);
    std::copy_n(from.values.begin() + entry * width, width, to.values.begin() + i * width);
  }
  to.dropEmptyGaps();
}

static Series likeOf(const Series &series) {
  Series made;
  made.name = series.name;
  made.elem = series.elem;
  made.isSketch = series.isSketch;
  made.shape = series.shape;
  made.tree = series.tree;
  made.chosen = series.chosen;
  return made;
}

Series Series::select(size_t axis, llvm::ArrayRef<int64_t> positions) const {
  Series made = likeOf(*this);
  made.axes = axes;
  Axis &chosen = made.axes[axis];
  const Axis &all = axes[axis];
  chosen.labels.clear();
  chosen.words.clear();
  for (int64_t position : positions) {
    if (all.words.empty())
      chosen.labels.push_back(all.labels[static_cast<size_t>(position)]);
    else
      chosen.words.push_back(all.words[static_cast<size_t>(position)]);
  }
  if (isSketch)
    return made;
  int64_t inner = entriesOf(llvm::ArrayRef(axes).drop_front(axis + 1));
  int64_t count = static_cast<int64_t>(positions.size());
  gather(*this, made, [&](int64_t i) {
    int64_t outer = i / inner / std::max<int64_t>(count, 1);
    return (outer * all.size() + positions[static_cast<size_t>(i / inner % count)]) * inner + i % inner;
  });
  return made;
}

/// Leaves moments out at which no entry is: a member has the moments that its run has.
static Series withoutEmptyMoments(Series series) {
  auto axis = series.moments();
  if (!axis || !series.lacksSome())
    return series;
  int64_t size = series.axes[*axis].size();
  std::vector<int64_t> kept;
  for (int64_t moment = 0; moment < size; ++moment)
    for (int64_t entry = moment; entry < series.entries(); entry += size)
      if (series.isMeasured(entry)) {
        kept.push_back(moment);
        break;
      }
  return static_cast<int64_t>(kept.size()) == size ? series : series.select(*axis, kept);
}

Series Series::at(size_t axis, int64_t position) const {
  Series made = select(axis, position);
  bool isMember = !axes[axis].isMoments;
  made.chosen += (chosen.empty() ? "" : ", ") + axes[axis].name + "=" + axes[axis].label(position);
  made.axes.erase(made.axes.begin() + axis);
  return isMember ? withoutEmptyMoments(std::move(made)) : made;
}

Series Series::spreadOver(const std::vector<Axis> &wanted, llvm::ArrayRef<int64_t> entry) const {
  Series made = likeOf(*this);
  made.axes = wanted;
  if (isSketch)
    return made;
  // How far one goes in this for a step along each wanted axis.
  llvm::SmallVector<int64_t> strides;
  for (const Axis &each : wanted) {
    auto own = axis(each.name);
    strides.push_back(own ? entriesOf(llvm::ArrayRef(axes).drop_front(*own + 1)) : 0);
  }
  gather(*this, made, [&](int64_t i) {
    int64_t from = 0;
    for (size_t a = wanted.size(); a-- > 0; i /= wanted[a].size())
      from += i % wanted[a].size() * strides[a];
    return from;
  });
  if (!shape.empty() || entry.empty())
    return made;
  std::vector<double> wide;
  for (double value : made.values)
    wide.insert(wide.end(), static_cast<size_t>(product(entry)), value);
  made.values = std::move(wide);
  made.shape.assign(entry.begin(), entry.end());
  return made;
}

/// The moments of all members in order.
static Axis unionOfMoments(const Series &model, const std::vector<std::shared_ptr<Series>> &members) {
  std::set<double> moments;
  for (auto &member : members)
    if (member)
      moments.insert(member->axes.back().labels.begin(), member->axes.back().labels.end());
  Axis axis = model.axes.back();
  axis.labels.assign(moments.begin(), moments.end());
  return axis;
}

std::optional<Series> stackMembers(const std::string &name, const std::vector<Axis> &axes,
                                   const std::vector<std::shared_ptr<Series>> &members) {
  auto first = llvm::find_if(members, [](auto &member) { return member != nullptr; });
  if (first == members.end())
    return std::nullopt;
  const Series &model = **first;
  for (auto &member : members)
    if (member && (member->shape != model.shape || member->tree != model.tree || member->axes.size() != model.axes.size()))
      return std::nullopt;
  Series made = likeOf(model);
  made.name = name;
  std::vector<Axis> inner = model.axes;
  if (model.moments())
    inner.back() = unionOfMoments(model, members);
  made.axes = axes;
  made.axes.insert(made.axes.end(), inner.begin(), inner.end());
  if (model.isSketch)
    return made;
  for (auto &member : members) {
    Series none = likeOf(model);
    none.axes = inner;
    gather(model, none, [](int64_t) { return -1; });
    Series part = none;
    if (member) {
      Series own = *member;
      part.elem = made.elem = std::max(made.elem, member->elem);
      gather(own, part, [&](int64_t i) -> int64_t {
        if (!own.moments())
          return i;
        int64_t size = inner.back().size();
        auto moment = own.axes.back().find(inner.back().labels[static_cast<size_t>(i % size)]);
        return moment ? i / size * own.axes.back().size() + *moment : -1;
      });
    }
    made.values.insert(made.values.end(), part.values.begin(), part.values.end());
    for (int64_t i = 0; i < part.entries(); ++i)
      made.missing.push_back(part.gap(i));
  }
  made.dropEmptyGaps();
  return made;
}

Series stackNone(const Series &model, const std::vector<Axis> &axes) {
  Series made = likeOf(model);
  made.axes = axes;
  made.axes.insert(made.axes.end(), model.axes.begin(), model.axes.end());
  if (made.moments())
    made.axes.back().labels.clear();
  return made;
}

std::optional<Series> Series::below(llvm::StringRef path) const {
  Series made = likeOf(*this);
  made.name = name + "." + path.str();
  made.axes = axes;
  made.missing = missing;
  made.tree.clear();
  std::vector<std::pair<int64_t, int64_t>> ranges; // of an entry: from where, how many
  int64_t offset = 0, count = 0;
  bool isLeaf = false;
  for (const TreeLeaf &leaf : tree) {
    isLeaf |= leaf.path == path;
    if (leaf.path == path || llvm::StringRef(leaf.path).starts_with(path.str() + ".")) {
      ranges.emplace_back(offset, leaf.size());
      count += leaf.size();
      made.tree.push_back(leaf);
    }
    offset += leaf.size();
  }
  if (made.tree.empty())
    return std::nullopt;
  made.shape = {count};
  if (isLeaf) {
    made.shape = made.tree.front().shape;
    made.tree.clear();
  }
  if (isSketch)
    return made;
  for (int64_t entry = 0; entry < entries(); ++entry)
    for (auto [from, size] : ranges) {
      auto first = values.begin() + entry * width() + from;
      made.values.insert(made.values.end(), first, first + size);
    }
  return made;
}

std::vector<int64_t> Series::positions() const {
  std::vector<int64_t> places;
  for (int64_t i = 0; i < entries(); ++i)
    if (!isMissing(i) && values[static_cast<size_t>(i)] != 0)
      places.push_back(i);
  return places;
}

bool isNamed(const Value &value) {
  auto *series = value.as<std::shared_ptr<Series>>();
  return series && (*series)->isNamed();
}

bool isMissing(const Value &value) {
  auto *series = value.as<std::shared_ptr<Series>>();
  return series && !(*series)->isNamed() && (*series)->lacksSome();
}

bool isSketch(const Value &value) {
  auto *series = value.as<std::shared_ptr<Series>>();
  return series && (*series)->isSketch;
}

} // namespace dyn::elab
