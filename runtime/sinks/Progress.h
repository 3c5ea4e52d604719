//===- Progress.h - the line a person watches -----------------------------===//
#ifndef DYN_RUNTIME_SINKS_PROGRESS_H
#define DYN_RUNTIME_SINKS_PROGRESS_H

#include "runtime/Metrics.h"

#include <memory>

namespace dyn {

/// On a terminal one line that is redrawn a few times a second: step of total, steps a second, latest
/// loss and other single-number metrics, time left. Elsewhere a plain line at doubling intervals (1 s, 2 s, … 60 s).
/// Writes to file descriptor `fd` (2: stderr).
std::unique_ptr<Sink> makeProgressSink(int fd = 2);

} // namespace dyn
#endif // DYN_RUNTIME_SINKS_PROGRESS_H
