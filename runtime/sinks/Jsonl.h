//===- Jsonl.h - DIR/metrics.jsonl ----------------------------------------===//
//
// One object a line: run, metric, clock, at, value (a number or nested lists;
// "nan", "inf", "-inf" where a number is not finite), and axes where the
// metric has any: [{"name": "leaf", "labels": ["a", "b"]}, …].
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_SINKS_JSONL_H
#define DYN_RUNTIME_SINKS_JSONL_H

#include "runtime/Metrics.h"

#include <memory>
#include <string>

namespace dyn {

/// Writes `path`, anew. `run` is the value of the key `run`.
std::unique_ptr<Sink> makeJsonlSink(std::string path, std::string run);

} // namespace dyn
#endif // DYN_RUNTIME_SINKS_JSONL_H
