//===- Feeds.cpp ----------------------------------------------------------===//
#include "runtime/Feeds.h"

#include <algorithm>

namespace dyn {

/// Rows that are shuffled together when batches are smaller.
static constexpr int64_t shuffledTogether = 512;

Feed::Feed(const plan::Feed &plan, int64_t rows, uint64_t key)
    : capacity(plan.batch), usable(plan.drop ? rows / plan.batch * plan.batch : rows), rows(rows),
      shuffle(plan.shuffle), key(key), order(mixKeys(key, 0), rows), buffer(static_cast<size_t>(plan.batch)) {
  if (!shuffle)
    return;
  aheadRows = std::max<int64_t>(1, shuffledTogether / capacity) * capacity;
  ahead.resize(static_cast<size_t>(aheadRows));
}

/// Whole batches, but for the last of a pass, which row 0 pads.
void Feed::fillAhead() {
  aheadFrom = at;
  int64_t count = std::min(aheadRows, usable - at);
  aheadEnd = at + count;
  order.fill(at, count, ahead.data());
  std::fill(ahead.begin() + count, ahead.end(), 0);
}

void Feed::fillPlain(int64_t from, DynBatch &batch) {
  int64_t count = std::min(capacity, usable - from);
  batch = {buffer.data(), count};
  if (from == filledFrom)
    return; // `batch all` asks for the same rows each time
  for (int64_t i = 0; i < capacity; ++i)
    buffer[static_cast<size_t>(i)] = i < count ? from + i : 0;
  filledFrom = from;
}

void Feed::next(DynBatch &batch) {
  if (at >= usable) {
    at = aheadFrom = aheadEnd = 0;
    if (shuffle)
      order = Permutation(mixKeys(key, static_cast<uint64_t>(finished)), rows);
  }
  if (shuffle) {
    if (at < aheadFrom || at >= aheadEnd)
      fillAhead();
    batch = {ahead.data() + (at - aheadFrom), std::min(capacity, usable - at)};
  } else {
    fillPlain(at, batch);
  }
  at += capacity;
  if (at >= usable)
    ++finished;
}

void Feed::moveTo(FeedPosition position) {
  at = position.rows;
  finished = position.passes;
  aheadFrom = aheadEnd = 0;
  // At the end of a pass it is counted, and its order still stands.
  int64_t pass = at >= usable && finished > 0 ? finished - 1 : finished;
  if (shuffle)
    order = Permutation(mixKeys(key, static_cast<uint64_t>(pass)), rows);
}

void Feed::rewind() { orderPosition = 0; }

bool Feed::nextInOrder(DynBatch &batch) {
  if (orderPosition >= usable)
    return false;
  fillPlain(orderPosition, batch);
  orderPosition += capacity;
  return true;
}

} // namespace dyn
