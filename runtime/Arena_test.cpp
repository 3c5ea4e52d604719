#include "runtime/Arena.h"

#include <gtest/gtest.h>

using namespace dyn;

namespace {

TEST(Arena, blocksAreZeroedAndAligned) {
  Expected<Arenas> arenas = Arenas::create({{"a", "params", 100}, {"b", "work", 0}, {"c", "grads", (5 << 20) + 4}});
  ASSERT_TRUE(arenas);
  ASSERT_EQ(arenas->count(), 3);
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_NE((*arenas)[i], nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>((*arenas)[i]) % 64, 0u);
  }
  EXPECT_EQ(reinterpret_cast<uintptr_t>((*arenas)[2]) % (2 << 20), 0u);
  const char *bytes = static_cast<const char *>((*arenas)[2]);
  for (int64_t i = 0; i < (5 << 20) + 4; ++i)
    ASSERT_EQ(bytes[i], 0);
}

TEST(Arena, impossibleSizesAreNamed) {
  Expected<Arenas> arenas = Arenas::create({{"grads", "grads", int64_t(1) << 60}});
  ASSERT_FALSE(arenas);
  EXPECT_NE(arenas.status().message().find("arena `grads`"), std::string::npos);
  EXPECT_FALSE(Block::create(-1));
}

TEST(Arena, pointersStayWhenArenasMove) {
  Expected<Arenas> first = Arenas::create({{"a", "params", 64}});
  void *address = (*first)[0];
  Arenas second = std::move(*first);
  EXPECT_EQ(second[0], address);
}

TEST(Arena, sharedBlocksStandForArenas) {
  Expected<Arenas> first = Arenas::create({{"a", "params", 64}, {"x", "field", 64}});
  SharedBlocks shared = {nullptr, first->block(1)};
  Expected<Arenas> second = Arenas::create({{"a", "params", 64}, {"x", "field", 64}}, shared);
  EXPECT_EQ((*first)[1], (*second)[1]);
  EXPECT_NE((*first)[0], (*second)[0]);
}

} // namespace
