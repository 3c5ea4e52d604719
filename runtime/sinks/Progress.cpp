//===- Progress.cpp -------------------------------------------------------===//
#include "runtime/sinks/Progress.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace dyn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double longestInterval = 60; ///< seconds between plain lines
constexpr size_t mostMetrics = 5;

std::string format(const char *pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), pattern, value);
  return text;
}

std::string duration(double seconds) {
  if (seconds < 100)
    return format("%.0f s", seconds);
  if (seconds < 6000)
    return format("%.0f min", seconds / 60);
  return format("%.1f h", seconds / 3600);
}

std::string rate(double perSecond) {
  if (perSecond >= 1e6)
    return format("%.1fM", perSecond * 1e-6);
  if (perSecond >= 1e4)
    return format("%.0fk", perSecond * 1e-3);
  return format(perSecond >= 10 ? "%.0f" : "%.2g", perSecond);
}

class ProgressSink : public Sink {
public:
  explicit ProgressSink(int fd) : fd(fd), terminal(isatty(fd) == 1) {}

  Status open(const plan::Plan &plan, const RunProgress &running) override {
    progress = &running;
    start = lastTick = Clock::now();
    hasEpochs = !plan.feeds.empty();
    for (const plan::Metric &metric : plan.metrics)
      latest.push_back({metric.name, std::nan(""), metric.shape.empty(), false});
    return {};
  }

  void write(const Sample &sample) override {
    Latest &entry = latest[static_cast<size_t>(sample.metric)];
    entry.value = sample.values.empty() ? std::nan("") : sample.values[0];
    entry.seen = true;
  }

  void tick() override {
    Clock::time_point now = Clock::now();
    int64_t step = progress->step.load(std::memory_order_relaxed);
    double passed = std::chrono::duration<double>(now - lastTick).count();
    if (passed > 0.05) {
      // Smoothed over about a second.
      double present = double(step - lastStep) / passed, weight = std::min(1.0, passed);
      stepsASecond = lastStep == 0 ? present : stepsASecond + weight * (present - stepsASecond);
      lastStep = step;
      lastTick = now;
    }
    if (progress->held.load(std::memory_order_relaxed)) {
      // The line stays as it is, and the clock of the rate starts anew afterwards.
      if (terminal && !std::exchange(hushed, true)) {
        redraw(line(step));
        put("\n");
      }
      return;
    }
    hushed = false;
    if (terminal) {
      redraw(line(step));
    } else if (std::chrono::duration<double>(now - start).count() >= nextPlain) {
      put(line(step) + "\n");
      nextPlain += std::min(nextPlain, longestInterval);
    }
  }

  Status close() override {
    int64_t step = progress->step.load(std::memory_order_relaxed);
    double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    stepsASecond = seconds > 0 ? double(step) / seconds : 0;
    if (terminal)
      redraw(line(step));
    else
      put(line(step));
    put("\n");
    return {};
  }

private:
  struct Latest {
    std::string name;
    double value;
    bool number, seen;
  };
  int fd;
  bool terminal;
  const RunProgress *progress = nullptr;
  std::vector<Latest> latest;
  bool hasEpochs = false;
  Clock::time_point start, lastTick;
  int64_t lastStep = 0;
  double stepsASecond = 0;
  double nextPlain = 1;
  bool hushed = false; ///< the loop is held

  std::string line(int64_t step) const {
    std::string text = "step " + std::to_string(step) + "/" + std::to_string(progress->total);
    if (hasEpochs)
      text += "  epoch " + std::to_string(progress->epoch.load(std::memory_order_relaxed));
    if (stepsASecond > 0)
      text += "  " + rate(stepsASecond) + " steps/s";
    size_t shown = 0;
    for (const Latest &entry : latest)
      if (entry.seen && entry.number && shown++ < mostMetrics)
        text += "  " + entry.name + " " + format("%.4g", entry.value);
    if (stepsASecond > 0 && step < progress->total)
      text += "  " + duration(double(progress->total - step) / stepsASecond) + " left";
    return text;
  }

  void redraw(const std::string &text) {
    winsize window = {};
    size_t width = ioctl(fd, TIOCGWINSZ, &window) == 0 && window.ws_col > 1 ? window.ws_col - 1u : 100;
    put("\r" + text.substr(0, width) + "\x1b[K");
  }

  /// A line that nobody can see is no reason to fail.
  void put(const std::string &text) {
    if (::write(fd, text.data(), text.size()) < 0)
      return;
  }
};

} // namespace

std::unique_ptr<Sink> makeProgressSink(int fd) { return std::make_unique<ProgressSink>(fd); }

} // namespace dyn
