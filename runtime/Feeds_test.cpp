#include "runtime/Feeds.h"

#include <gtest/gtest.h>
#include <set>

using namespace dyn;

namespace {

std::vector<int64_t> pass(Feed &feed, int64_t batches) {
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < batches; ++i) {
    DynBatch batch;
    feed.next(batch);
    rows.insert(rows.end(), batch.rows, batch.rows + batch.count);
  }
  return rows;
}

TEST(Feeds, aShuffledPassHasEveryRowOnceAndPassesDiffer) {
  Feed feed({"f", 0, 4, true, false}, 10, 7);
  std::vector<int64_t> first = pass(feed, 3);
  EXPECT_EQ(feed.passes(), 1);
  std::vector<int64_t> second = pass(feed, 3);
  EXPECT_EQ(feed.passes(), 2);
  EXPECT_EQ(std::set<int64_t>(first.begin(), first.end()).size(), 10u);
  EXPECT_EQ(std::set<int64_t>(second.begin(), second.end()).size(), 10u);
  EXPECT_NE(first, second);
  Feed again({"f", 0, 4, true, false}, 10, 7);
  EXPECT_EQ(pass(again, 3), first);
}

TEST(Feeds, aStreamGoesOnWhereAnotherStood) {
  for (bool shuffle : {false, true})
    for (bool drop : {false, true})
      for (int64_t before = 0; before < 9; ++before) {
        plan::Feed plan{"f", 0, 4, shuffle, drop};
        Feed whole(plan, 10, 7), other(plan, 10, 7);
        pass(whole, before);
        other.moveTo(whole.position());
        EXPECT_EQ(other.passes(), whole.passes());
        EXPECT_EQ(pass(other, 7), pass(whole, 7)) << before;
      }
}

TEST(Feeds, aShortLastBatchIsPaddedWithRowZero) {
  for (bool shuffle : {false, true}) {
    Feed feed({"f", 0, 4, shuffle, false}, 6, 7);
    DynBatch batch;
    feed.next(batch);
    EXPECT_EQ(batch.count, 4);
    EXPECT_EQ(feed.passes(), 0);
    feed.next(batch);
    EXPECT_EQ(batch.count, 2);
    EXPECT_EQ(batch.rows[2], 0);
    EXPECT_EQ(batch.rows[3], 0);
    EXPECT_EQ(feed.passes(), 1);
  }
}

TEST(Feeds, dropLeavesTheShortBatchOut) {
  Feed feed({"f", 0, 4, true, true}, 10, 7);
  EXPECT_EQ(pass(feed, 2).size(), 8u);
  EXPECT_EQ(feed.passes(), 1);
}

TEST(Feeds, evaluationGoesOnceInOrder) {
  Feed feed({"f", 0, 4, false, false}, 6, 7);
  for (int round = 0; round < 2; ++round) {
    DynBatch batch;
    feed.rewind();
    ASSERT_TRUE(feed.nextInOrder(batch));
    EXPECT_EQ(batch.rows[3], 3);
    ASSERT_TRUE(feed.nextInOrder(batch));
    EXPECT_EQ(batch.count, 2);
    EXPECT_EQ(batch.rows[1], 5);
    EXPECT_FALSE(feed.nextInOrder(batch));
  }
}

} // namespace
