//===- Memory.cpp ---------------------------------------------------------===//
#include "runtime/sinks/Memory.h"

namespace dyn {

Status MemorySink::open(const plan::Plan &plan, const RunProgress &) {
  for (const plan::Metric &metric : plan.metrics) {
    Series &series = target[metric.name];
    series.width = 1;
    for (int64_t size : metric.shape)
      series.width *= size;
    byNumber.push_back(&series); // nodes of a map stay where they are
  }
  return {};
}

void MemorySink::write(const Sample &sample) {
  Series &series = *byNumber[static_cast<size_t>(sample.metric)];
  series.at.push_back(sample.at);
  series.values.insert(series.values.end(), sample.values.begin(), sample.values.end());
}

} // namespace dyn
