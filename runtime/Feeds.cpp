//===- Feeds.cpp ----------------------------------------------------------===//
#include "runtime/Feeds.h"

#include <algorithm>

namespace dyn {

Feed::Feed(const plan::Feed &plan, int64_t rows, uint64_t key)
    : capacity(plan.batch), usable(plan.drop ? rows / plan.batch * plan.batch : rows), rows(rows),
      shuffle(plan.shuffle), key(key), order(mixKeys(key, 0), rows), buffer(static_cast<size_t>(plan.batch)) {}

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
    position = 0;
    if (shuffle)
      order = Permutation(mixKeys(key, static_cast<uint64_t>(finished)), rows);
  }
  if (shuffle) {
    int64_t count = std::min(capacity, usable - position);
    order.fill(position, count, buffer.data());
    std::fill(buffer.begin() + count, buffer.end(), 0);
    filledFrom = -1;
    batch = {buffer.data(), count};
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
