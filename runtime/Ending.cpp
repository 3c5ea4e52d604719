//===- Ending.cpp ---------------------------------------------------------===//
#include "runtime/Ending.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace dyn {

template <typename T> static bool allFinite(const void *values, int64_t count) {
  auto *first = static_cast<const T *>(values);
  return std::all_of(first, first + count, [](T value) { return std::isfinite(value); });
}

const plan::Leaf *notFiniteLeaf(const Session &session) {
  for (const plan::Leaf &leaf : session.plan().params) {
    int64_t count = 1;
    for (int64_t size : leaf.shape)
      count *= size;
    auto *finite = leaf.element == plan::Element::f64 ? allFinite<double> : allFinite<float>;
    if (!finite(session.data(leaf), count))
      return &leaf;
  }
  return nullptr;
}

void checkLastUpdate(const Session &session, Outcome &outcome) {
  if (outcome.status != DYN_OK || !notFiniteLeaf(session))
    return;
  outcome.status = DYN_NOT_FINITE;
  outcome.message = session.plan().specFile + ": the parameters are not finite at the end, after step " +
                    std::to_string(outcome.step);
}

std::string describeLeaf(const plan::Leaf &leaf, const Outcome &outcome) {
  return "the parameter `" + leaf.path + "` is not finite since update " + std::to_string(outcome.step) +
         ", which `" + leaf.owner + "` made";
}

bool dividesByZero(const plan::Plan &plan, const DynContext &ctx) {
  auto site = static_cast<size_t>(ctx.status_site);
  return ctx.status == DYN_BAD_INDEX && site < plan.sites.size() && plan.sites[site].kind == "division";
}

/// Bytes as people read them: lines indented, what no terminal should see as a dot.
static std::string readable(const double *bytes, int64_t count) {
  std::string text = "\n    ";
  for (int64_t i = 0; i < count; ++i) {
    int byte = static_cast<int>(bytes[i]);
    if (byte == '\n')
      text += "\n    ";
    else
      text += byte >= ' ' && byte < 127 ? static_cast<char>(byte) : '.';
  }
  return text;
}

std::string summary(const Session &session, const Outcome &outcome) {
  std::string text = session.plan().name + ": " + std::to_string(outcome.step) + " steps";
  for (const plan::Metric &metric : session.plan().metrics) {
    auto it = session.series().find(metric.name);
    if (!metric.shape.empty() || it == session.series().end() || it->second.values.empty())
      continue;
    char value[64];
    std::snprintf(value, sizeof value, " %.6g", it->second.values.back());
    text += ", " + metric.name + value;
  }
  for (const plan::Metric &metric : session.plan().metrics) {
    auto it = session.series().find(metric.name);
    if (!metric.text || it == session.series().end())
      continue;
    int64_t count = metric.shape.front();
    if (static_cast<int64_t>(it->second.values.size()) >= count)
      text += "\n  " + metric.name + ":" + readable(it->second.values.data() + it->second.values.size() - count, count);
  }
  return text;
}

} // namespace dyn
