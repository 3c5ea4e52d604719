//===- Profile.h - where the time of a run went ---------------------------===//
//
// Code made for `dync run --profile` says when a part of the plan begins and
// ends. Parts are a tree, so the time that a part has for itself is its own
// less that of the parts inside, and these times sum to the whole run.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_PROFILE_H
#define DYN_RUNTIME_PROFILE_H

#include "runtime/Plan.h"
#include "runtime/Status.h"
#include "runtime/Threads.h"
#include "runtime/cpu/Limits.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace dyn {

/// The processor's clock. It does not follow the frequency of the core.
inline int64_t readTicks() {
#if defined(__x86_64__)
  return static_cast<int64_t>(__builtin_ia32_rdtsc());
#elif defined(__aarch64__)
  int64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return std::chrono::steady_clock::now().time_since_epoch().count();
#endif
}

/// Sums the time of each part. Parts begin and end on the thread that runs the loop; what other threads do meanwhile is
/// time of the part that waits for them.
class PartClock {
public:
  struct Sum {
    int64_t begun = 0, ticks = 0, calls = 0;
  };

  PartClock() = default;
  explicit PartClock(size_t parts) : list(parts) {}

  void begin(int64_t part) { list[static_cast<size_t>(part)].begun = readTicks(); }
  void end(int64_t part) {
    Sum &sum = list[static_cast<size_t>(part)];
    sum.ticks += readTicks() - sum.begun;
    ++sum.calls;
  }
  /// Around all parts: what a tick is worth.
  void start();
  void stop();

  const std::vector<Sum> &sums() const { return list; }
  double secondsPerTick() const { return perTick; }

private:
  std::vector<Sum> list;
  std::chrono::steady_clock::time_point startTime;
  int64_t startTicks = 0;
  double perTick = 0;
};

/// A part of the plan and its time.
struct ProfileRow {
  int64_t part = 0;
  int64_t calls = 0;
  double seconds = 0; ///< its own: without the parts inside
  double share = 0;   ///< of the run
  double ofLimit = 0; ///< the least time that the machine needs for its bytes and flops, over its time; 0: it has none
};

struct Profile {
  std::string name; ///< the train
  std::vector<plan::Part> parts;
  std::vector<ProfileRow> rows; ///< one a part, by time
  int64_t steps = 0;
  int threads = 1;
  double seconds = 0;      ///< from the first to the last instruction of the loop
  double clockSeconds = 0; ///< of these, what taking the time cost, about
  cpu::Limits one, all;    ///< of one thread, and of all of the run
};

/// Rows from sums; measures the machine's limits.
Profile profileOf(const plan::Plan &plan, const PartClock &clock, ThreadPool &pool, int64_t steps);

/// A table for people: a line a part that was passed, the longest first.
std::string describe(const Profile &profile);
/// Everything, in seconds, bytes and operations.
[[nodiscard]] Status writeJson(const Profile &profile, const std::string &path);

} // namespace dyn
#endif // DYN_RUNTIME_PROFILE_H
