//===- Limits.h - what this machine can do at most ------------------------===//
#ifndef DYN_RUNTIME_CPU_LIMITS_H
#define DYN_RUNTIME_CPU_LIMITS_H

#include "runtime/Plan.h"
#include "runtime/Threads.h"

#include <cstdint>
#include <vector>

namespace dyn::cpu {

/// Speed of a = b + s c over arrays of so many bytes together: of a cache, or of memory.
struct TriadSpeed {
  int64_t bytes = 0;
  double bytesPerSecond = 0;
};

/// The two limits of the roofline model (Williams, Waterman and Patterson, 2009), measured.
struct Limits {
  double flopsPerSecond = 0;     ///< chains of multiply-adds in registers
  std::vector<TriadSpeed> triad; ///< by size, growing

  /// The least time for so much work on data that is read and written once.
  double secondsFor(int64_t bytes, int64_t flops) const;
};

/// Measures for some milliseconds what the threads of `pool` (`shared`), or this one alone, can do with elements f32 or
/// f64, over sizes up to mostBytes.
Limits measureLimits(ThreadPool &pool, bool shared, plan::Element element, int64_t mostBytes);

} // namespace dyn::cpu
#endif // DYN_RUNTIME_CPU_LIMITS_H
