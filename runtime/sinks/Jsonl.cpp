//===- Jsonl.cpp ----------------------------------------------------------===//
#include "runtime/sinks/Jsonl.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>
#include <vector>

namespace dyn {
namespace {

/// Text is handed to the system when so much has gathered, and at every tick.
constexpr size_t flushFrom = size_t(64) << 10;

std::string jsonText(const std::string &text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class JsonlSink : public Sink {
public:
  JsonlSink(std::string path, std::string run) : path(std::move(path)), run(std::move(run)) {}
  ~JsonlSink() override {
    if (descriptor >= 0)
      ::close(descriptor);
  }

  Status open(const plan::Plan &plan, const RunProgress &) override {
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0)
      return Status::error("cannot write `" + path + "`: " + std::strerror(errno));
    for (const plan::Metric &metric : plan.metrics)
      metrics.push_back({"{\"run\":" + jsonText(run) + ",\"metric\":" + jsonText(metric.name) +
                             ",\"clock\":" + jsonText(metric.clock) + ",\"at\":",
                         tailOf(metric), metric.shape});
    return {};
  }

  void write(const Sample &sample) override {
    const Lines &line = metrics[static_cast<size_t>(sample.metric)];
    text += line.head;
    number(sample.at);
    text += ",\"value\":";
    const double *values = sample.values.data();
    value(line.shape, 0, values, sample.single);
    text += line.tail;
    if (text.size() >= flushFrom)
      flush();
  }

  void tick() override { flush(); }

  Status close() override {
    flush();
    if (descriptor >= 0 && ::close(descriptor) != 0 && failure.isOk())
      fail(errno);
    descriptor = -1;
    return failure;
  }

private:
  struct Lines {
    std::string head, tail;
    std::vector<int64_t> shape;
  };
  std::string path, run, text;
  std::vector<Lines> metrics;
  int descriptor = -1;
  size_t size = 0; ///< of the file
  Status failure;

  static std::string tailOf(const plan::Metric &metric) {
    if (metric.axes.empty())
      return "}\n";
    nlohmann::json axes = nlohmann::json::array();
    for (size_t i = 0; i < metric.axes.size(); ++i) {
      axes.push_back({{"name", metric.axes[i]}});
      if (i < metric.labels.size() && !metric.labels[i].empty())
        axes.back()["labels"] = metric.labels[i];
    }
    return ",\"axes\":" + axes.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "}\n";
  }

  template <typename T> void number(T value) {
    char digits[32];
    auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
    text.append(digits, size_t(end - digits));
  }

  void value(const std::vector<int64_t> &shape, size_t dimension, const double *&next, bool single) {
    if (dimension < shape.size()) {
      text += '[';
      for (int64_t i = 0; i < shape[dimension]; ++i) {
        if (i)
          text += ',';
        value(shape, dimension + 1, next, single);
      }
      text += ']';
      return;
    }
    double x = *next++;
    if (std::isnan(x))
      text += "\"nan\"";
    else if (std::isinf(x))
      text += x > 0 ? "\"inf\"" : "\"-inf\"";
    else if (single)
      number(float(x)); // the shortest digits that give this f32 back
    else
      number(x);
  }

  void fail(int code) {
    failure = Status::error("cannot write `" + path + "`: " + std::strerror(code) +
                            "; what came after is not in the file");
  }

  /// Writes whole lines: a part that fails ends the file's growth, not the run, and its last line is taken back.
  void flush() {
    size_t done = 0;
    while (failure.isOk() && done < text.size()) {
      ssize_t wrote = ::write(descriptor, text.data() + done, text.size() - done);
      if (wrote >= 0)
        done += size_t(wrote);
      else if (errno != EINTR)
        fail(errno);
    }
    size_t lines = failure.isOk() ? done : text.rfind('\n', done ? done - 1 : 0) + 1;
    bool isCut = lines < done && ::ftruncate(descriptor, off_t(size + lines)) != 0;
    size += isCut ? done : lines;
    text.clear();
  }
};

} // namespace

std::unique_ptr<Sink> makeJsonlSink(std::string path, std::string run) {
  return std::make_unique<JsonlSink>(std::move(path), std::move(run));
}

} // namespace dyn
