//===- Checkpoint.cpp -----------------------------------------------------===//
#include "runtime/Checkpoint.h"

#include "runtime/Safetensors.h"
#include "runtime/SessionInternals.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace dyn {

/// Of one run, in memory.
static constexpr int64_t mostCheckpointBytes = int64_t(1) << 30;

/// What a checkpoint holds of a plan: what is served, where that is not the parameters, counts as a state.
static std::vector<plan::Leaf> kept(const plan::Plan &plan) {
  std::vector<plan::Leaf> leaves = plan.params;
  leaves.insert(leaves.end(), plan.states.begin(), plan.states.end());
  for (plan::Leaf leaf : plan.served) {
    leaf.owner = "served by " + leaf.owner;
    leaves.push_back(std::move(leaf));
  }
  return leaves;
}

static int64_t bytesOf(const plan::Leaf &leaf) {
  int64_t bytes = plan::sizeOf(leaf.element);
  for (int64_t size : leaf.shape)
    bytes *= size;
  return bytes;
}

char *memoryOf(const DynRuntime &runtime, const plan::Leaf &leaf) {
  return static_cast<char *>(runtime.arenas[leaf.arena]) + leaf.offset * plan::sizeOf(leaf.element);
}

/// The array of a leaf: rules of two clauses may have states of one path.
static const Checkpoint::Array *find(const std::vector<Checkpoint::Array> &arrays, const plan::Leaf &wanted) {
  auto found = std::find_if(arrays.begin(), arrays.end(), [&](const Checkpoint::Array &array) {
    bool isServed = array.leaf.owner.starts_with("served by ");
    return array.leaf.path == wanted.path && isServed == wanted.owner.starts_with("served by ");
  });
  return found == arrays.end() ? nullptr : &*found;
}

static std::string describe(const plan::Leaf &leaf) {
  if (leaf.shape.empty())
    return "a number";
  std::string text;
  for (int64_t size : leaf.shape)
    text += (text.empty() ? "[" : ", ") + std::to_string(size);
  return text + "]" + (leaf.element == plan::Element::f64 ? " of f64" : leaf.element == plan::Element::f32 ? " of f32" : "");
}

/// How many checkpoints a run of a plan makes at most.
static int64_t checkpointCount(const plan::Plan &plan) {
  if (plan.checkpoint < 0)
    return 0;
  const plan::Event &event = plan.events[static_cast<size_t>(plan.checkpoint)];
  if (event.kind == "at")
    return static_cast<int64_t>(event.at.size());
  if (event.kind == "end")
    return 1;
  int64_t steps = 1;
  if (event.kind == "epoch" && !plan.feeds.empty()) {
    const plan::Feed &feed = plan.feeds.front();
    steps = std::max<int64_t>(1, plan.sets[static_cast<size_t>(feed.set)].examples() / feed.batch);
  }
  return plan.total / steps / event.every + 1;
}

Status checkpointsFit(const DynRuntime &runtime) {
  int64_t each = 0, count = checkpointCount(runtime.plan);
  for (const plan::Leaf &leaf : kept(runtime.plan))
    each += bytesOf(leaf);
  if (!runtime.options.keepCheckpoints || count == 0 || each <= mostCheckpointBytes / count)
    return {};
  return Status::error("`" + runtime.plan.name + "` would keep " + std::to_string(count) + " checkpoints of " +
                       std::to_string(each) + " bytes, more than " + std::to_string(mostCheckpointBytes >> 30) +
                       " GiB together; `checkpoint` less often, or `at` the steps that are forked from");
}

Status writeArrays(const DynRuntime &runtime, const std::string &file) {
  std::vector<TensorView> tensors;
  for (const plan::Leaf &leaf : runtime.plan.kept())
    tensors.push_back({leaf.path, leaf.element, leaf.shape, memoryOf(runtime, leaf)});
  for (const plan::Leaf &leaf : runtime.plan.states)
    if (leaf.owner == plan::modelOwner)
      tensors.push_back({leaf.path, leaf.element, leaf.shape, memoryOf(runtime, leaf)});
  return writeSafetensors(file, tensors);
}

Checkpoint Checkpoint::of(const DynRuntime &runtime) {
  Checkpoint made;
  made.clock = runtime.ctx.clock;
  made.previousEpoch = runtime.previousEpoch;
  std::copy_n(runtime.ctx.seeds, made.seeds.size(), made.seeds.begin());
  for (const plan::Leaf &leaf : kept(runtime.plan)) {
    const char *memory = memoryOf(runtime, leaf);
    made.arrays.push_back({leaf, std::vector<char>(memory, memory + bytesOf(leaf))});
  }
  for (size_t i = 0; i < runtime.feeds.size(); ++i) {
    const plan::Feed &feed = runtime.plan.feeds[i];
    const plan::Set &set = runtime.plan.sets[static_cast<size_t>(feed.set)];
    made.feeds.push_back({feed, set.name, set.examples(), runtime.feeds[i].position()});
  }
  return made;
}

std::string Checkpoint::mismatch(const plan::Plan &plan) const {
  if (plan.total < clock.step)
    return "its " + std::to_string(plan.total) + " steps are over before step " + std::to_string(clock.step);
  for (const plan::Leaf &leaf : kept(plan)) {
    const Array *array = find(arrays, leaf);
    std::string name = "`" + leaf.path + "`";
    if (!array)
      return "the run has no " + name;
    if (array->leaf.shape != leaf.shape || array->leaf.element != leaf.element)
      return name + " is " + describe(array->leaf) + " in the run, and " + describe(leaf) + " here";
  }
  return "";
}

void Checkpoint::restore(DynRuntime &runtime) const {
  for (const plan::Leaf &leaf : kept(runtime.plan))
    if (const Array *array = find(arrays, leaf))
      std::memcpy(memoryOf(runtime, leaf), array->bytes.data(), array->bytes.size());
  int64_t total = runtime.ctx.clock.total;
  runtime.ctx.clock = clock;
  runtime.ctx.clock.total = total;
  runtime.previousEpoch = previousEpoch;
  if (!runtime.plan.seeded) {
    std::copy(seeds.begin(), seeds.end(), runtime.ctx.seeds);
    makeFeeds(runtime);
  }
  bool sameData = false;
  for (size_t i = 0; i < runtime.feeds.size() && i < feeds.size(); ++i) {
    const plan::Feed &feed = runtime.plan.feeds[i];
    const plan::Set &set = runtime.plan.sets[static_cast<size_t>(feed.set)];
    const Place &place = feeds[i];
    bool same = set.name == place.set && set.examples() == place.examples && feed.batch == place.feed.batch &&
                feed.shuffle == place.feed.shuffle && feed.drop == place.feed.drop;
    if (same)
      runtime.feeds[i].moveTo(place.position);
    sameData |= same && i == 0;
  }
  // The epochs of other data begin anew.
  if (!sameData && !runtime.feeds.empty()) {
    runtime.ctx.clock.epoch = 0;
    runtime.previousEpoch = -1;
  }
  runtime.metrics.setClock(runtime.ctx.clock.step, runtime.ctx.clock.epoch);
}

} // namespace dyn

void DynRuntime::betweenSteps() {
  if (options.start)
    std::exchange(options.start, nullptr)->restore(*this);
  if (plan.checkpoint < 0 || !due(plan.checkpoint))
    return;
  if (queue)
    noteDevice(queue->wait());
  if (options.keepCheckpoints)
    checkpoints.push_back(std::make_shared<dyn::Checkpoint>(dyn::Checkpoint::of(*this)));
  if (options.directory.empty())
    return;
  dyn::Status written = dyn::writeArrays(*this, options.directory + "/step-" + std::to_string(ctx.clock.step) + ".safetensors");
  if (checkpointFile.isOk())
    checkpointFile = written;
}
