//===- Metrics.cpp --------------------------------------------------------===//
#include "runtime/Metrics.h"

#include "runtime/AllocationHooks.h"
#include "runtime/Ring.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace dyn {
namespace {

constexpr int64_t ringBytes = int64_t(2) << 20;
/// How long the writer sleeps when the ring is empty: at 100,000 emits a second it then holds 40 KB. Nobody wakes it but
/// the end of the run: a notification would be a system call in a step.
constexpr std::chrono::milliseconds pollEvery(10);
constexpr std::chrono::milliseconds tickEvery(100);
/// How long a producer waits before it looks again whether a full ring has room.
constexpr std::chrono::microseconds fullWait(20);

int64_t bytesOf(int32_t element) { return element == 0 ? 4 : 8; }

} // namespace

struct MetricStream::State {
  const plan::Plan *plan = nullptr;
  std::vector<std::unique_ptr<Sink>> sinks;
  std::vector<int64_t> counts; ///< values of each metric
  Ring ring;
  std::thread writer;
  std::mutex mutex;
  std::condition_variable ended;
  bool stop = false; ///< under the mutex
  /// How often the loop was held, and the last time of those that the writer has delivered everything for.
  std::atomic<int64_t> holds{0}, delivered{0};
  std::vector<double> values; ///< the present record, widened

  void deliver(const RecordHeader &header, const char *bytes) {
    size_t count = size_t(header.bytes / bytesOf(header.element));
    for (size_t i = 0; i < count; ++i) {
      const char *from = bytes + i * size_t(bytesOf(header.element));
      if (header.element == 0) {
        float value;
        std::memcpy(&value, from, sizeof(value));
        values[i] = double(value);
      } else if (header.element == 1) {
        std::memcpy(&values[i], from, sizeof(double));
      } else {
        int64_t value;
        std::memcpy(&value, from, sizeof(value));
        values[i] = double(value);
      }
    }
    Sample sample{header.metric, header.at, std::span<const double>(values.data(), count), header.element == 0};
    for (auto &sink : sinks)
      sink->write(sample);
  }

  /// Whether the stream is to end, as far as that is known after so long.
  bool isStopped(std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex);
    return ended.wait_for(lock, wait, [this] { return stop; });
  }

  void write() {
    if (AllocationHooks hooks = AllocationHooks::find(); hooks.exempt)
      hooks.exempt();
    auto nextTick = std::chrono::steady_clock::now();
    while (true) {
      bool last = isStopped(std::chrono::milliseconds(0)); // before the drain: nothing comes after it
      int64_t hold = holds.load(std::memory_order_acquire);
      bool any = ring.drain([&](const RecordHeader &header, const char *bytes) { deliver(header, bytes); });
      auto now = std::chrono::steady_clock::now();
      if (now >= nextTick || hold != delivered.load(std::memory_order_relaxed)) {
        for (auto &sink : sinks)
          sink->tick();
        nextTick = now + tickEvery;
      }
      delivered.store(hold, std::memory_order_release);
      if (last)
        return;
      if (!any)
        isStopped(pollEvery);
    }
  }
};

MetricStream::MetricStream() : state(std::make_unique<State>()) {}

MetricStream::~MetricStream() { static_cast<void>(finish().isOk()); }

Status MetricStream::start(const plan::Plan &plan, std::vector<std::unique_ptr<Sink>> sinks) {
  state->plan = &plan;
  int64_t largest = 1;
  for (const plan::Metric &metric : plan.metrics) {
    int64_t count = 1;
    for (int64_t size : metric.shape)
      count *= size;
    if (count > int64_t(1) << 27)
      return Status::error("metric `" + metric.name + "` has " + std::to_string(count) +
                           " values a sample, more than a stream takes; reduce it first");
    state->counts.push_back(count);
    largest = std::max(largest, count);
  }
  state->values.resize(size_t(largest));
  Expected<Ring> ring = Ring::create(std::max(ringBytes, 4 * (largest * 8 + int64_t(sizeof(RecordHeader)))));
  if (!ring)
    return ring.status();
  state->ring = std::move(*ring);
  progress.total = plan.total;
  for (auto &sink : sinks) {
    Status status = sink->open(plan, progress);
    if (!status.isOk())
      return status;
  }
  state->sinks = std::move(sinks);
  state->writer = std::thread([s = state.get()] { s->write(); });
  return {};
}

void MetricStream::emit(int64_t metric, int32_t element, const void *values, int64_t at) {
  int64_t bytes = state->counts[size_t(metric)] * bytesOf(element);
  RecordHeader header{metric, at, element, int32_t(bytes)};
  while (!state->ring.push(header, values))
    std::this_thread::sleep_for(fullWait);
}

void MetricStream::hush() {
  progress.held.store(true, std::memory_order_relaxed);
  int64_t hold = state->holds.fetch_add(1, std::memory_order_release) + 1;
  while (state->delivered.load(std::memory_order_acquire) != hold)
    std::this_thread::sleep_for(pollEvery / 10);
}

Status MetricStream::finish() {
  if (!state->writer.joinable())
    return {};
  {
    std::lock_guard lock(state->mutex);
    state->stop = true;
  }
  state->ended.notify_one();
  state->writer.join();
  Status first;
  for (auto &sink : state->sinks) {
    Status status = sink->close();
    if (first.isOk() && !status.isOk())
      first = status;
  }
  return first;
}

} // namespace dyn
