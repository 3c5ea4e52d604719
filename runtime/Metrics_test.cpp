#include "runtime/Metrics.h"

#include "runtime/Ring.h"
#include "runtime/sinks/Jsonl.h"
#include "runtime/sinks/Memory.h"
#include "runtime/sinks/Progress.h"

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <sstream>
#include <thread>
#include <unistd.h>

using namespace dyn;

namespace {

plan::Plan somePlan() {
  plan::Plan plan;
  plan.name = "r";
  plan.total = 10;
  plan.metrics = {{"loss", "step", {}, {}, {}}, {"norms", "epoch", {2, 2}, {"leaf", "k"}, {{"a", "b"}, {}}}};
  return plan;
}

std::string readFile(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string temporary(const char *name) {
  return (std::filesystem::temp_directory_path() / (std::to_string(getpid()) + name)).string();
}

TEST(Metrics, jsonLinesSayEverything) {
  plan::Plan plan = somePlan();
  std::string path = temporary("m.jsonl");
  std::vector<std::unique_ptr<Sink>> sinks;
  sinks.push_back(makeJsonlSink(path, "run \"1\""));
  MetricStream stream;
  ASSERT_TRUE(stream.start(plan, std::move(sinks)).isOk());
  float loss = 0.1f;
  double wide = 0.1, infinite = -std::numeric_limits<double>::infinity();
  double norms[4] = {1, 2.5, std::nan(""), 1e300};
  stream.emit(0, 0, &loss, 0);
  stream.emit(0, 1, &wide, 1);
  stream.emit(0, 1, &infinite, 2);
  stream.emit(1, 1, norms, 3);
  int64_t whole = 7;
  stream.emit(0, 2, &whole, 4);
  ASSERT_TRUE(stream.finish().isOk());
  std::string head = "{\"run\":\"run \\\"1\\\"\",\"metric\":\"loss\",\"clock\":\"step\",\"at\":";
  EXPECT_EQ(readFile(path), head + "0,\"value\":0.1}\n" + head + "1,\"value\":0.1}\n" + head +
                                "2,\"value\":\"-inf\"}\n" +
                                "{\"run\":\"run \\\"1\\\"\",\"metric\":\"norms\",\"clock\":\"epoch\",\"at\":3,\"value\":"
                                "[[1,2.5],[\"nan\",1e+300]],\"axes\":[{\"labels\":[\"a\",\"b\"],\"name\":\"leaf\"},"
                                "{\"name\":\"k\"}]}\n" +
                                head + "4,\"value\":7}\n");
  std::filesystem::remove(path);
}

TEST(Metrics, nothingIsLostWhenTheRingIsFull) {
  plan::Plan plan = somePlan();
  MetricSeries series;
  std::vector<std::unique_ptr<Sink>> sinks;
  sinks.push_back(std::make_unique<MemorySink>(series));
  MetricStream stream;
  ASSERT_TRUE(stream.start(plan, std::move(sinks)).isOk());
  constexpr int64_t count = 300000; // several times the ring
  for (int64_t i = 0; i < count; ++i) {
    double value = double(i);
    stream.emit(0, 1, &value, i);
    if (i % 3 == 0) {
      double four[4] = {value, 1, 2, 3};
      stream.emit(1, 1, four, i);
    }
  }
  ASSERT_TRUE(stream.finish().isOk());
  ASSERT_EQ(series["loss"].values.size(), size_t(count));
  for (int64_t i = 0; i < count; ++i)
    ASSERT_TRUE(series["loss"].values[size_t(i)] == double(i) && series["loss"].at[size_t(i)] == i);
  EXPECT_EQ(series["norms"].width, 4);
  EXPECT_EQ(series["norms"].values.size(), series["norms"].at.size() * 4);
}

TEST(Metrics, emittingIsCheap) {
  plan::Plan plan = somePlan();
  MetricStream stream;
  ASSERT_TRUE(stream.start(plan, {}).isOk());
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i) {
      float value = float(i);
      stream.emit(0, 0, &value, i);
    }
    best = std::min(best, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
  }
  std::printf("an emit takes %.1f ns\n", best / 1000);
#if defined(__OPTIMIZE__) && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
  EXPECT_LT(best / 1000, 100);
#endif
}

TEST(Metrics, aFullDiskIsSaidAndOtherSinksGoOn) {
  if (!std::filesystem::exists("/dev/full"))
    GTEST_SKIP() << "no /dev/full on this system";
  plan::Plan plan = somePlan();
  MetricSeries series;
  std::vector<std::unique_ptr<Sink>> sinks;
  sinks.push_back(makeJsonlSink("/dev/full", "r"));
  sinks.push_back(std::make_unique<MemorySink>(series));
  MetricStream stream;
  ASSERT_TRUE(stream.start(plan, std::move(sinks)).isOk());
  double value = 1;
  stream.emit(0, 1, &value, 0);
  EXPECT_EQ(stream.finish().message(),
            "cannot write `/dev/full`: No space left on device; what came after is not in the file");
  EXPECT_EQ(series["loss"].values.size(), 1u);
}

TEST(Metrics, aPlaceThatCannotBeWrittenIsSaidAtStart) {
  plan::Plan plan = somePlan();
  std::vector<std::unique_ptr<Sink>> sinks;
  sinks.push_back(makeJsonlSink("/nowhere/m.jsonl", "r"));
  MetricStream stream;
  EXPECT_EQ(stream.start(plan, std::move(sinks)).message(),
            "cannot write `/nowhere/m.jsonl`: No such file or directory");
}

TEST(Metrics, progressOffATerminalIsPlainLines) {
  plan::Plan plan = somePlan();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::vector<std::unique_ptr<Sink>> sinks;
  sinks.push_back(makeProgressSink(ends[1]));
  MetricStream stream;
  ASSERT_TRUE(stream.start(plan, std::move(sinks)).isOk());
  double value = 0.25;
  stream.emit(0, 1, &value, 0);
  stream.setClock(10, 2);
  ASSERT_TRUE(stream.finish().isOk());
  close(ends[1]);
  char text[1000];
  ssize_t got = read(ends[0], text, sizeof(text));
  close(ends[0]);
  std::string line(text, size_t(std::max<ssize_t>(got, 0)));
  EXPECT_EQ(line.find("step 10/10"), 0u) << line;
  EXPECT_NE(line.find("loss 0.25"), std::string::npos) << line;
  EXPECT_EQ(line.find('\r'), std::string::npos);
}

} // namespace
