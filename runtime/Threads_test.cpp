#include "runtime/Threads.h"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

using namespace dyn;

namespace {

struct Recorder {
  int64_t extent, grain;
  std::vector<std::atomic<int>> seen;
  std::atomic<int> wrong{0};
  Recorder(int64_t extent, int64_t grain) : extent(extent), grain(grain), seen(size_t(extent)) {}
  static void body(void *closure, int64_t lo, int64_t hi) {
    auto *self = static_cast<Recorder *>(closure);
    self->wrong += lo % self->grain != 0 || hi != std::min(lo + self->grain, self->extent);
    for (int64_t i = lo; i < hi; ++i)
      ++self->seen[size_t(i)];
  }
};

TEST(Threads, everyIndexOnceInTheSamePiecesForAnyCount) {
  for (int threads : {1, 2, 3, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int64_t extent : {0, 1, 7, 8, 9, 1000})
      for (int64_t grain : {1, 8, 333, 5000}) {
        Recorder recorder(extent, grain);
        pool.parallelFor(Recorder::body, &recorder, extent, grain);
        EXPECT_EQ(recorder.wrong, 0);
        for (auto &count : recorder.seen)
          ASSERT_EQ(count, 1);
      }
  }
}

TEST(Threads, manyShortJobsAndSleepsBetween) {
  ThreadPool pool(3);
  std::atomic<int64_t> sum{0};
  auto body = [](void *closure, int64_t lo, int64_t hi) { *static_cast<std::atomic<int64_t> *>(closure) += hi - lo; };
  for (int i = 0; i < 5000; ++i) {
    pool.parallelFor(body, &sum, 16, 4);
    if (i % 1000 == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(3)); // long enough for the workers to sleep
  }
  EXPECT_EQ(sum, 5000 * 16);
}

TEST(Threads, nestedCallsRunInline) {
  ThreadPool pool(2);
  struct Nested {
    ThreadPool *pool;
    std::atomic<int64_t> sum{0};
    static void inner(void *closure, int64_t lo, int64_t hi) { static_cast<Nested *>(closure)->sum += hi - lo; }
    static void outer(void *closure, int64_t lo, int64_t hi) {
      for (int64_t i = lo; i < hi; ++i)
        static_cast<Nested *>(closure)->pool->parallelFor(inner, closure, 10, 3);
    }
  } nested{&pool};
  pool.parallelFor(Nested::outer, &nested, 20, 1);
  EXPECT_EQ(nested.sum, 200);
}

} // namespace
