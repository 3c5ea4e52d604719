//===- Memory.h - metrics kept for `expect` -------------------------------===//
#ifndef DYN_RUNTIME_SINKS_MEMORY_H
#define DYN_RUNTIME_SINKS_MEMORY_H

#include "runtime/Metrics.h"

#include <map>
#include <string>
#include <vector>

namespace dyn {

/// All samples of one metric in the order of emission.
struct Series {
  std::vector<int64_t> at;
  std::vector<double> values; ///< at.size() rows of `width`
  int64_t width = 1;
};

using MetricSeries = std::map<std::string, Series>;

/// Fills a map that its owner reads once the stream has finished.
class MemorySink : public Sink {
public:
  /// `target` outlives the sink.
  explicit MemorySink(MetricSeries &target) : target(target) {}
  Status open(const plan::Plan &plan, const RunProgress &progress) override;
  void write(const Sample &sample) override;
  Status close() override { return {}; }

private:
  MetricSeries &target;
  std::vector<Series *> byNumber;
};

} // namespace dyn
#endif // DYN_RUNTIME_SINKS_MEMORY_H
