#include "runtime/Profile.h"

#include "gtest/gtest.h"

#include <cmath>
#include <filesystem>

using namespace dyn;

namespace {

void spend(int64_t ticks) {
  for (int64_t start = readTicks(); readTicks() - start < ticks;)
    ;
}

/// A program with a function that holds a product and a loop; the loop holds a
/// kernel that is passed twice.
plan::Plan example() {
  plan::Plan plan;
  plan.name = "fit";
  plan.parts = {{"program", "dyn_main", {}, -1, 0, 0, false},
                {"function", "update", {}, 0, 0, 0, false},
                {"product", "matmul", {"fit.dyn:3"}, 1, 3 << 10, 1 << 15, false},
                {"loop", "scan", {}, 1, 0, 0, false},
                {"fused", "map [32]", {"fit.dyn:4", "fit.dyn:7", "lib/sgd.dyn:2"}, 3, 256, 32, false},
                {"metric", "loss", {}, 1, 0, 0, false}};
  return plan;
}

Profile run(const plan::Plan &plan) {
  PartClock clock(plan.parts.size());
  clock.start();
  clock.begin(0);
  clock.begin(1);
  clock.begin(2);
  spend(300000);
  clock.end(2);
  clock.begin(3);
  for (int i = 0; i < 2; ++i) {
    clock.begin(4);
    spend(50000);
    clock.end(4);
  }
  clock.end(3);
  clock.end(1);
  clock.end(0);
  clock.stop();
  ThreadPool pool(2);
  return profileOf(plan, clock, pool, 1);
}

TEST(Profile, timesOfPartsSumToTheWhole) {
  Profile profile = run(example());
  ASSERT_EQ(profile.rows.size(), 6u);
  double seconds = 0, share = 0;
  for (const ProfileRow &row : profile.rows) {
    EXPECT_GE(row.seconds, 0) << row.part;
    seconds += row.seconds, share += row.share;
  }
  EXPECT_NEAR(seconds, profile.seconds,
              1e-9 * profile.seconds); // sums of whole ticks: only roundings of doubles
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_EQ(profile.rows[0].part, 2); // the longest first
  EXPECT_EQ(profile.rows[1].part, 4);
  EXPECT_EQ(profile.rows[1].calls, 2);
  // 300,000 ticks of spinning against 100,000; a core that is taken away
  // meanwhile adds to one of them.
  EXPECT_GT(profile.rows[0].share, 0.1);
  EXPECT_GT(profile.rows[0].ofLimit, 0);
}

TEST(Profile, aTableNamesWhatRan) {
  std::string text = describe(run(example()));
  EXPECT_NE(text.find("matmul  fit.dyn:3\n"), std::string::npos) << text;
  EXPECT_NE(text.find("map [32]  fit.dyn:4,7 sgd.dyn:2\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("loss"), std::string::npos) << text; // was never due
}

TEST(Profile, limitsGrowWithThreadsAndShrinkWithSize) {
  ThreadPool pool(2);
  for (plan::Element element : {plan::Element::f32, plan::Element::f64}) {
    cpu::Limits limits = cpu::measureLimits(pool, false, element, int64_t(1) << 20);
    // Two lanes of SSE and a gigahertz at the least; a thousand times that at
    // the most.
    EXPECT_GT(limits.flopsPerSecond, 1e9);
    EXPECT_LT(limits.flopsPerSecond, 1e12);
    ASSERT_EQ(limits.triad.size(), 4u);
    EXPECT_EQ(limits.triad.back().bytes, int64_t(1) << 20);
    EXPECT_GT(limits.triad.front().bytesPerSecond, 1e8);
    // Whichever limit is farther away counts.
    double flops = limits.flopsPerSecond, bytes = limits.triad.back().bytesPerSecond;
    EXPECT_DOUBLE_EQ(limits.secondsFor(0, int64_t(flops)), double(int64_t(flops)) / flops);
    EXPECT_NEAR(limits.secondsFor(int64_t(bytes), 1), 1, 1e-6);
  }
}

TEST(Profile, aFileThatCannotBeWrittenIsSaid) {
  std::string folder = testing::TempDir() + "profile_is_a_folder";
  std::filesystem::create_directories(folder);
  EXPECT_EQ(writeJson(run(example()), folder).message(), "cannot write `" + folder + "`: Is a directory");
}

} // namespace
