//===- Session.cpp --------------------------------------------------------===//
#include "runtime/Session.h"

#include "runtime/Ending.h"
#include "runtime/PlanCheck.h"
#include "runtime/Random.h"
#include "runtime/SessionInternals.h"
#include "runtime/Subnormals.h"
#include "runtime/data/Loader.h"
#include "runtime/sinks/Jsonl.h"
#include "runtime/sinks/Progress.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <csignal>
#include <random>
#include <unistd.h>

namespace dyn {
namespace {

/// Set by the signal handler; there is one terminal, so one for the process.
std::atomic<int> interrupts{0};

/// A second Ctrl-C means now.
void onInterrupt(int) {
  if (interrupts.fetch_add(1, std::memory_order_relaxed) > 0)
    _exit(130);
}

DynRuntime::Event makeEvent(const plan::Event &event) {
  using Kind = DynRuntime::EventKind;
  Kind kind = event.kind == "step"    ? Kind::step
              : event.kind == "epoch" ? Kind::epoch
              : event.kind == "end"   ? Kind::end
              : event.kind == "running" ? Kind::running
                                      : Kind::at;
  std::vector<int64_t> at = event.at;
  std::sort(at.begin(), at.end());
  return {kind, event.every, std::move(at)};
}

/// Keys of the four streams. Data stays the same from seed to seed; noise is the system's unless a seed was asked for.
std::array<uint64_t, 4> makeKeys(const plan::Plan &plan) {
  std::array<uint64_t, 4> keys = streamKeys(plan.seed);
  constexpr auto data = static_cast<size_t>(Stream::data), noise = static_cast<size_t>(Stream::noise);
  keys[data] = streamKeys(0)[data];
  if (!plan.seeded) {
    std::random_device device;
    keys[noise] = uint64_t(device()) << 32 | device();
  }
  return keys;
}

} // namespace

void makeFeeds(DynRuntime &runtime) {
  runtime.feeds.clear();
  for (size_t i = 0; i < runtime.plan.feeds.size(); ++i) {
    const plan::Feed &feed = runtime.plan.feeds[i];
    uint64_t key = mixKeys(runtime.ctx.seeds[static_cast<size_t>(Stream::order)], i);
    runtime.feeds.emplace_back(feed, runtime.plan.sets[static_cast<size_t>(feed.set)].examples(), key);
  }
  runtime.batches.resize(runtime.feeds.size());
}

namespace {

void makeContext(DynRuntime &runtime) {
  for (const plan::Number &number : runtime.plan.numbers)
    runtime.numbers.push_back(number.value);
  for (const plan::Event &event : runtime.plan.events)
    runtime.events.push_back(makeEvent(event));
  for (const plan::Metric &metric : runtime.plan.metrics)
    runtime.clockIsEpoch.push_back(metric.clock == "epoch");
  DynContext &ctx = runtime.ctx;
  std::array<uint64_t, 4> keys = makeKeys(runtime.plan);
  std::copy(keys.begin(), keys.end(), ctx.seeds);
  ctx.arenas = runtime.arenas.bases();
  for (size_t i = 0; i < runtime.plan.arenas.size(); ++i)
    if (runtime.plan.arenas[i].role == "stop")
      runtime.stop = static_cast<const double *>(runtime.arenas[static_cast<int64_t>(i)]);
  ctx.numbers = runtime.numbers.data();
  ctx.clock.total = runtime.plan.total;
  ctx.status_site = -1;
  ctx.runtime = &runtime;
  makeFeeds(runtime);
  ctx.batches = runtime.batches.data();
}

std::string notFiniteValue(int64_t bits) {
  double value = std::bit_cast<double>(bits);
  return std::isnan(value) ? "nan" : std::isinf(value) ? (value > 0 ? "inf" : "-inf") : "not finite";
}

/// A guard on what a clip promises: its value is not finite when the promise does not hold.
bool brokenBound(const DynRuntime &runtime) {
  const DynContext &ctx = runtime.ctx;
  return ctx.status == DYN_NOT_FINITE && ctx.status_site >= 0 &&
         static_cast<size_t>(ctx.status_site) < runtime.plan.sites.size() &&
         runtime.plan.sites[static_cast<size_t>(ctx.status_site)].kind == "bound";
}

std::string matrixFault(const DynContext &ctx) {
  std::string pivot = "pivot " + std::to_string(ctx.status_bound);
  switch (ctx.status_value) {
  case DYN_SINGULAR:
    return "the matrix is singular: " + pivot + " is 0";
  case DYN_NOT_POSITIVE:
    return "the matrix is not positive definite: " + pivot + " is not above 0";
  default:
    return "the eigenvalues or singular values of the matrix were not found";
  }
}

std::string describe(const DynRuntime &runtime) {
  const DynContext &ctx = runtime.ctx;
  std::string what = "a value", where = runtime.plan.specFile;
  if (ctx.status_site >= 0 && static_cast<size_t>(ctx.status_site) < runtime.plan.sites.size()) {
    const plan::Site &site = runtime.plan.sites[static_cast<size_t>(ctx.status_site)];
    what = site.kind == "bound" ? site.what : "`" + site.what + "`";
    where = site.spec;
  }
  // A program without a loop has no steps.
  std::string step = runtime.plan.total > 0 ? " at step " + std::to_string(ctx.clock.step) : "";
  switch (ctx.status) {
  case DYN_OK:
    return "";
  case DYN_NOT_FINITE:
    if (brokenBound(runtime))
      return where + ": the clip " + what + step;
    return where + ": " + what + " is " + notFiniteValue(ctx.status_value) + step;
  case DYN_BAD_INDEX:
    if (dividesByZero(runtime.plan, ctx))
      return where + ": " + what + " divides a whole number by 0" + step;
    return where + ": index " + std::to_string(ctx.status_value) + " of " + what + " is outside 0 to " +
           std::to_string(ctx.status_bound - 1) + step;
  case DYN_LIMIT:
    return where + ": " + what + " reached its limit of " + std::to_string(ctx.status_bound) + " passes" + step;
  case DYN_NO_RESULT:
    return where + ": " + matrixFault(ctx) + step;
  case DYN_DEVICE_FAILED:
    return where + ": " + runtime.deviceError + step + ", on " + runtime.options.device->describe();
  case DYN_BAD_DATA:
    return "at step " + std::to_string(ctx.clock.step) + ": " + runtime.dataError;
  case DYN_INTERRUPTED:
    return "interrupted after step " + std::to_string(ctx.clock.step) + " of " + std::to_string(ctx.clock.total);
  default:
    return where + ": " + what + " failed" + step;
  }
}

Status startMetrics(DynRuntime &runtime) {
  SessionOptions &options = runtime.options;
  std::vector<std::unique_ptr<Sink>> sinks = std::move(options.sinks);
  if (!options.directory.empty()) {
    Expected<RunFolder> folder = RunFolder::claim(options.directory);
    if (!folder)
      return folder.status();
    runtime.folder = std::move(*folder);
    std::string run = options.run.empty() ? runtime.plan.name : options.run;
    sinks.push_back(makeJsonlSink(options.directory + "/metrics.jsonl", run));
  }
  if (options.progress)
    sinks.push_back(makeProgressSink());
  if (options.keepSeries)
    sinks.push_back(std::make_unique<MemorySink>(runtime.series));
  return runtime.metrics.start(runtime.plan, std::move(sinks));
}

/// Arenas that only loading writes and only loading reads.
void forgetLoading(plan::Plan &plan, std::vector<plan::Arena> &arenas) {
  for (const plan::Source &source : plan.sources) {
    if (source.isEndless())
      continue;
    for (const plan::RawInput &input : source.inputs)
      arenas[static_cast<size_t>(input.arena)].bytes = 0;
    for (int64_t arena : source.chunkArenas)
      if (arena >= 0)
        arenas[static_cast<size_t>(arena)].bytes = 0;
  }
}

Status makeStreams(DynRuntime &runtime) {
  runtime.makers.resize(runtime.feeds.size());
  for (size_t feed = 0; feed < runtime.feeds.size(); ++feed) {
    int64_t number = runtime.plan.sets[static_cast<size_t>(runtime.plan.feeds[feed].set)].source;
    const plan::Source &source = runtime.plan.sources[static_cast<size_t>(number)];
    if (!source.isEndless())
      continue;
    Entry function = runtime.lookup(source.function);
    if (!function)
      return Status::error("the program has no entry point `" + source.function + "`; compile it again");
    runtime.makers[feed].emplace(runtime.plan, number, runtime.ctx, std::move(function));
  }
  return {};
}

/// The machine's limits are measured here, right after the run and by its threads.
void takeProfile(DynRuntime &runtime, Outcome &outcome) {
  runtime.profile = profileOf(runtime.plan, runtime.clock, *runtime.pool, outcome.step);
  if (runtime.options.directory.empty())
    return;
  Status status = writeJson(*runtime.profile, runtime.options.directory + "/profile.json");
  if (outcome.output.isOk())
    outcome.output = status;
}

} // namespace

struct InterruptScope::State {
  struct sigaction before = {};
};

InterruptScope::InterruptScope() : state(std::make_unique<State>()) {
  interrupts = 0;
  struct sigaction action = {};
  action.sa_handler = onInterrupt;
  action.sa_flags = SA_RESTART; // files being written go on
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &state->before);
}

InterruptScope::~InterruptScope() {
  sigaction(SIGINT, &state->before, nullptr);
  interrupts = 0;
}

bool InterruptScope::isInterrupted() { return interrupts.load(std::memory_order_relaxed) > 0; }

int Outcome::exitCode() const {
  if (status == DYN_INTERRUPTED)
    return 130;
  return status == DYN_OK && output.isOk() ? 0 : 1;
}

void requestInterrupt() { interrupts.fetch_add(1, std::memory_order_relaxed); }

Session::Session(std::unique_ptr<DynRuntime> state) : runtime(std::move(state)) {}
Session::~Session() = default;

/// The same code, run as the workers of the pool run their pieces of it.
static EntryLookup withoutSubnormals(EntryLookup lookup) {
  return [lookup = std::move(lookup)](const std::string &name) -> Entry {
    Entry code = lookup(name);
    if (!code)
      return code;
    return [code = std::move(code)](DynContext *ctx) {
      FlushSubnormals scope;
      code(ctx);
    };
  };
}

Expected<std::unique_ptr<Session>> Session::create(plan::Plan plan, EntryLookup lookup, SessionOptions options) {
  Status status = checkPlan(plan);
  if (!status.isOk())
    return status;
  auto runtime = std::make_unique<DynRuntime>();
  runtime->plan = std::move(plan);
  runtime->lookup = withoutSubnormals(std::move(lookup));
  runtime->options = std::move(options);
  if (!runtime->lookup(runtime->plan.entry))
    return Status::error("the program has no entry point `" + runtime->plan.entry + "`; compile it again");
  if (Status kept = checkpointsFit(*runtime); !kept.isOk())
    return kept;
  std::vector<plan::Arena> wanted = runtime->plan.arenas;
  const LoadedSets *shared = runtime->options.sets.get();
  if (shared)
    forgetLoading(runtime->plan, wanted);
  Expected<Arenas> arenas = Arenas::create(wanted, shared ? shared->blocks : SharedBlocks(), runtime->options.device);
  if (!arenas)
    return arenas.status();
  runtime->arenas = std::move(*arenas);
  if (runtime->options.device) {
    auto queue = runtime->options.device->queue();
    if (!queue)
      return queue.status();
    runtime->queue = std::move(*queue);
  }
  runtime->pool.emplace(runtime->options.threads);
  Expected<cpu::Products> products = cpu::Products::create(runtime->plan.products, *runtime->pool);
  if (!products)
    return products.status();
  runtime->products = std::move(*products);
  runtime->hooks = AllocationHooks::find();
  runtime->clock = PartClock(runtime->plan.parts.size());
  makeContext(*runtime);
  if (Status made = makeStreams(*runtime); !made.isOk())
    return made;
  return std::unique_ptr<Session>(new Session(std::move(runtime)));
}

Status Session::load() {
  if (runtime->options.sets)
    return {};
  for (size_t i = 0; i < runtime->plan.sources.size(); ++i) {
    const plan::Source &source = runtime->plan.sources[i];
    if (source.isEndless())
      continue;
    Entry function = runtime->lookup(source.function);
    if (!function)
      return Status::error("the program has no entry point `" + source.function + "`; compile it again");
    Status status = data::load(runtime->plan, static_cast<int64_t>(i), runtime->ctx, function);
    if (!status.isOk())
      return status;
  }
  return {};
}

std::shared_ptr<const LoadedSets> Session::sets() const {
  if (runtime->options.sets)
    return runtime->options.sets;
  auto sets = std::make_shared<LoadedSets>();
  sets->blocks.resize(runtime->plan.arenas.size());
  for (const plan::Set &set : runtime->plan.sets)
    for (int64_t arena : set.fieldArenas)
      if (arena >= 0 && !runtime->plan.sources[static_cast<size_t>(set.source)].isEndless())
        sets->blocks[static_cast<size_t>(arena)] = runtime->arenas.block(arena);
  return sets;
}

Outcome Session::run() {
  Outcome outcome;
  std::optional<InterruptScope> scope;
  if (runtime->options.catchInterrupt)
    scope.emplace();
  outcome.output = startMetrics(*runtime);
  if (!outcome.output.isOk())
    return outcome;
  Entry entry = runtime->lookup(runtime->plan.entry);
  runtime->clock.start();
  entry(&runtime->ctx);
  runtime->clock.stop();
  outcome.output = runtime->metrics.finish();
  outcome.status = static_cast<DynStatus>(runtime->ctx.status);
  outcome.step = runtime->ctx.clock.step;
  outcome.site = runtime->ctx.status_site;
  outcome.message = describe(*runtime);
  if (brokenBound(*runtime))
    outcome.status = DYN_BROKEN_BOUND;
  bool worthKeeping = outcome.status == DYN_OK || outcome.status == DYN_INTERRUPTED;
  if (worthKeeping && !runtime->options.directory.empty()) {
    Status status = writeArrays(*runtime, runtime->options.directory + "/final.safetensors");
    for (const Status &each : {runtime->checkpointFile, status})
      if (outcome.output.isOk())
        outcome.output = each;
  }
  if (worthKeeping && !runtime->plan.parts.empty())
    takeProfile(*runtime, outcome);
  return outcome;
}

const Profile *Session::profile() const { return runtime->profile ? &*runtime->profile : nullptr; }

const plan::Plan &Session::plan() const { return runtime->plan; }
DynContext &Session::context() { return runtime->ctx; }

void Session::setNumbers(const std::vector<plan::Number> &numbers) {
  runtime->plan.numbers = numbers;
  for (size_t i = 0; i < numbers.size() && i < runtime->numbers.size(); ++i)
    runtime->numbers[i] = numbers[i].value;
}

const std::vector<std::shared_ptr<const Checkpoint>> &Session::checkpoints() const { return runtime->checkpoints; }
const MetricSeries &Session::series() const { return runtime->series; }
void Session::abandon() { runtime->metrics.hush(); }

const void *Session::data(const plan::Leaf &leaf) const {
  return memoryOf(*runtime, leaf);
}

} // namespace dyn

bool DynRuntime::interrupted() { return dyn::InterruptScope::isInterrupted(); }
