#include "runtime/data/Loader.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <set>

using namespace dyn;

namespace {

/// Ten rows "i, i % 3", chunks of four, split 7 and 3 by a permutation; the function copies.
class LoaderTest : public testing::Test {
protected:
  plan::Plan plan;
  std::vector<std::vector<double>> memory;
  std::vector<void *> arenas;
  DynContext ctx = {};
  std::string path = (std::filesystem::temp_directory_path() / "dyn-loader-test.csv").string();

  void SetUp() override {
    plan::Source source;
    source.name = "numbers";
    source.format = "csv";
    source.inputs = {{path, 2, 0, false, {}}};
    source.rows = 10;
    source.chunk = 4;
    source.fields = {{"x", {}, plan::Element::f64, 0}, {"c", {}, plan::Element::i64, 3}};
    source.chunkArenas = {1, 2};
    source.spec = "t.dyn:1:1";
    plan.sources = {source};
    plan.sets = {{"numbers.train", 0, 0, 7, true, 5, {3, 4}}, {"numbers.test", 0, 7, 3, true, 5, {5, -1}}};
    for (size_t bytes : {64, 32, 32, 56, 56, 24})
      memory.emplace_back(bytes / 8);
    for (auto &arena : memory)
      arenas.push_back(arena.data());
    ctx.arenas = arenas.data();
    write(3);
  }
  void TearDown() override { std::filesystem::remove(path); }
  void write(int classes) {
    std::ofstream file(path);
    for (int i = 0; i < 10; ++i)
      file << i << "," << i % classes << "\n";
  }

  static void copy(DynContext *ctx) {
    auto *raw = static_cast<double *>(ctx->arenas[0]), *x = static_cast<double *>(ctx->arenas[1]);
    auto *c = static_cast<int64_t *>(ctx->arenas[2]);
    for (int i = 0; i < 4; ++i) {
      x[i] = raw[2 * i];
      c[i] = int64_t(raw[2 * i + 1]);
    }
  }
};

TEST_F(LoaderTest, everyRowGoesToOneSetWithItsFields) {
  Status status = data::load(plan, 0, ctx, copy);
  ASSERT_TRUE(status.isOk()) << status.message();
  const auto *classes = static_cast<const int64_t *>(arenas[4]);
  std::set<double> seen;
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(classes[i], int64_t(memory[3][i]) % 3);
    seen.insert(memory[3][i]);
  }
  seen.insert(memory[5].begin(), memory[5].end());
  EXPECT_EQ(seen.size(), 10u);
  EXPECT_FALSE(std::is_sorted(memory[3].begin(), memory[3].end()));
}

TEST_F(LoaderTest, classesOutOfRangeAreNamed) {
  write(5);
  EXPECT_EQ(data::load(plan, 0, ctx, copy).message(),
            path + ":4: field `c` is 3, expected a class from 0 to 2; declare more classes or mend the row");
}

TEST_F(LoaderTest, valuesThatAreNotFiniteAreNamed) {
  auto spoil = [](DynContext *ctx) {
    copy(ctx);
    if (ctx->clock.rows_base == 4)
      static_cast<double *>(ctx->arenas[1])[1] = std::numeric_limits<double>::infinity();
  };
  EXPECT_EQ(data::load(plan, 0, ctx, spoil).message(),
            path + ":6: field `x` is not finite; mend the row or leave it out");
}

TEST_F(LoaderTest, aFileThatChangedIsRefused) {
  plan.sources[0].rows = 11;
  EXPECT_EQ(data::load(plan, 0, ctx, copy).message(),
            "`" + path + "` has 10 rows, row 11 was expected; has the file changed?");
  plan.sources[0].inputs[0].width = 3;
  std::string message = data::load(plan, 0, ctx, copy).message();
  EXPECT_NE(message.find("the program was compiled for 3"), std::string::npos) << message;
}

} // namespace
