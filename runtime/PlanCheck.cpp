//===- PlanCheck.cpp ------------------------------------------------------===//
#include "runtime/PlanCheck.h"

#include <algorithm>

namespace dyn {
namespace {

class Checker {
public:
  explicit Checker(const plan::Plan &plan) : plan(plan) {}

  Status run() {
    need(plan.total >= 0, "total", "is negative");
    for (const plan::Leaf &leaf : plan.params)
      checkLeaf(leaf);
    for (const plan::Leaf &leaf : plan.served)
      checkLeaf(leaf);
    for (const plan::Leaf &leaf : plan.states)
      checkLeaf(leaf);
    for (const plan::Source &source : plan.sources)
      checkSource(source);
    for (const plan::Set &set : plan.sets)
      checkSet(set);
    for (const plan::Feed &feed : plan.feeds)
      checkFeed(feed);
    for (const plan::Event &event : plan.events) {
      bool known = event.kind == "step" || event.kind == "epoch" || event.kind == "end" || event.kind == "at" || event.kind == "running";
      need(known && event.every >= 1, "event " + event.kind, "is of no known kind, or every 0");
    }
    need(plan.checkpoint == -1 || in(plan.checkpoint, plan.events), "checkpoint", "names an event that is not there");
    for (const plan::Metric &metric : plan.metrics)
      elements(metric.shape, "metric " + metric.name);
    for (size_t i = 0; i < plan.parts.size(); ++i)
      need(plan.parts[i].parent >= -1 && plan.parts[i].parent < static_cast<int64_t>(i), "part " + plan.parts[i].what,
           "is in none that stands before it");
    return status;
  }

private:
  const plan::Plan &plan;
  Status status;

  void need(bool holds, const std::string &where, const std::string &what) {
    if (!holds && status.isOk())
      status = Status::error("the plan does not hold together: " + where + " " + what + "; compile the program again");
  }

  template <typename T> bool in(int64_t number, const std::vector<T> &list) const {
    return number >= 0 && static_cast<size_t>(number) < list.size();
  }

  int64_t elements(const std::vector<int64_t> &shape, const std::string &where) {
    __int128 product = 1;
    for (int64_t size : shape) {
      need(size >= 0, where, "has a negative size");
      product = std::min<__int128>(product * size, __int128(1) << 60);
    }
    return int64_t(product);
  }

  void fits(int64_t arena, __int128 bytes, const std::string &where) {
    need(in(arena, plan.arenas), where, "names an arena that is not there");
    if (status.isOk())
      need(bytes >= 0 && bytes <= plan.arenas[static_cast<size_t>(arena)].bytes, where, "does not fit its arena");
  }

  void checkLeaf(const plan::Leaf &leaf) {
    need(leaf.offset >= 0, leaf.path, "has a negative offset");
    fits(leaf.arena, (__int128(leaf.offset) + elements(leaf.shape, leaf.path)) * plan::sizeOf(leaf.element), leaf.path);
  }

  __int128 fieldBytes(const plan::Field &field, int64_t rows) {
    return __int128(elements(field.shape, field.name)) * plan::sizeOf(field.element) * rows;
  }

  void checkSource(const plan::Source &source) {
    need(source.rows >= 1 && source.chunk >= 1, source.name, "has no rows");
    need(!source.isEndless() || source.chunk == source.rows, source.name, "makes more or less than a batch at a time");
    need(source.chunkArenas.size() == source.fields.size(), source.name, "has another number of fields than buffers");
    for (const plan::RawInput &input : source.inputs)
      fits(input.arena, __int128(input.width) * source.chunk * 8, source.name);
    for (size_t i = 0; i < source.fields.size() && status.isOk(); ++i)
      if (source.chunkArenas[i] >= 0)
        fits(source.chunkArenas[i], fieldBytes(source.fields[i], source.chunk), source.name);
  }

  void checkSet(const plan::Set &set) {
    need(in(set.source, plan.sources), set.name, "names a source that is not there");
    if (!status.isOk())
      return;
    const plan::Source &source = plan.sources[static_cast<size_t>(set.source)];
    need(set.first >= 0 && set.rows >= 1 && set.rows <= source.rows && set.first <= source.rows - set.rows, set.name,
         "takes rows that are not there");
    need(set.windows >= 0 && set.windows <= set.rows, set.name, "has more windows than rows");
    need(set.fieldArenas.size() == source.fields.size(), set.name, "has another number of fields than its source");
    for (size_t i = 0; i < source.fields.size() && status.isOk(); ++i)
      if (set.fieldArenas[i] >= 0) {
        need(source.chunkArenas[i] >= 0, set.name, "wants a field that is not made");
        fits(set.fieldArenas[i], fieldBytes(source.fields[i], set.rows), set.name);
      }
  }

  void checkFeed(const plan::Feed &feed) {
    need(in(feed.set, plan.sets) && feed.batch >= 1, feed.name, "has no set or no batch");
    if (!status.isOk() || !feed.drop)
      return;
    int64_t rows = plan.sets[static_cast<size_t>(feed.set)].examples();
    if (rows < feed.batch)
      status = Status::error("`batch " + std::to_string(feed.batch) + " drop` leaves nothing of the " +
                             std::to_string(rows) + " rows of `" + feed.name + "`; use a smaller batch");
  }
};

} // namespace

Status checkPlan(const plan::Plan &plan) { return Checker(plan).run(); }

} // namespace dyn
