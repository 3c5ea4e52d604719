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
  aheadFrom = position;
  int64_t count = std::min(aheadRows, usable - position);
  aheadEnd = position + count;
  order.fill(position, count, ahead.data());
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
  if (position >= usable) {
    position = aheadFrom = aheadEnd = 0;
    if (shuffle)
      order = Permutation(mixKeys(key, static_cast<uint64_t>(finished)), rows);
  }
  if (shuffle) {
    if (position < aheadFrom || position >= aheadEnd)
      fillAhead();
    batch = {ahead.data() + (position - aheadFrom), std::min(capacity, usable - position)};
  } else {
    fillPlain(position, batch);
  }
  position += capacity;
  if (position >= usable)
    ++finished;
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
