//===- ArgSort.cpp - places in rising order -------------------------------===//
//
// Elements become whole numbers without a sign that have their order; those
// are sorted by one byte after the other, the lowest first, which keeps equal
// ones in order, takes the same time whatever the data, and needs no memory
// but a second copy.
//
//===----------------------------------------------------------------------===//
#include "runtime/abi.h"

#include <bit>
#include <utility>

namespace {

/// Order of floats as that of unsigned numbers: nan last, -0 equal to 0.
uint64_t keyOf(double x) {
  if (x != x)
    return ~uint64_t(0);
  auto bits = std::bit_cast<uint64_t>(x + 0.0);
  constexpr uint64_t sign = uint64_t(1) << 63;
  return bits & sign ? ~bits : bits | sign;
}
uint64_t keyOf(float x) {
  if (x != x)
    return ~uint32_t(0);
  auto bits = std::bit_cast<uint32_t>(x + 0.0f);
  constexpr uint32_t sign = uint32_t(1) << 31;
  return bits & sign ? ~bits : bits | sign;
}
uint64_t keyOf(int64_t x) { return uint64_t(x) ^ (uint64_t(1) << 63); }

struct Entry {
  uint64_t key;
  int64_t place;
};

/// Below this a pass over 256 counts costs more than comparing.
constexpr int64_t shortPiece = 64;

void sortByInsertion(Entry *entries, int64_t count) {
  for (int64_t i = 1; i < count; ++i) {
    Entry entry = entries[i];
    int64_t at = i;
    for (; at > 0 && entries[at - 1].key > entry.key; --at)
      entries[at] = entries[at - 1];
    entries[at] = entry;
  }
}

/// Sorts entries by keys of so many bytes; the result is in one of the two.
Entry *sortByBytes(Entry *entries, Entry *other, int64_t count, int bytes) {
  for (int shift = 0; shift < 8 * bytes; shift += 8) {
    int64_t starts[256] = {};
    for (int64_t i = 0; i < count; ++i)
      ++starts[entries[i].key >> shift & 255];
    if (starts[entries[0].key >> shift & 255] == count)
      continue; // all alike
    for (int64_t byte = 0, sum = 0; byte < 256; ++byte)
      sum += std::exchange(starts[byte], sum);
    for (int64_t i = 0; i < count; ++i)
      other[starts[entries[i].key >> shift & 255]++] = entries[i];
    std::swap(entries, other);
  }
  return entries;
}

template <typename T> void sortPiece(const T *x, int64_t *places, int64_t lo, int64_t hi, int64_t stride, Entry *scratch) {
  int64_t count = hi - lo;
  Entry *sorted = scratch;
  for (int64_t i = 0; i < count; ++i)
    scratch[i] = {keyOf(x[(lo + i) * stride]), lo + i};
  if (count < shortPiece)
    sortByInsertion(sorted, count);
  else
    sorted = sortByBytes(scratch, scratch + count, count, sizeof(T));
  for (int64_t i = 0; i < count; ++i)
    places[(lo + i) * stride] = sorted[i].place;
}

template <typename T> void sortLines(const int64_t *numbers, void *const *arrays) {
  int64_t outer = numbers[0], size = numbers[1], inner = numbers[2], pieces = numbers[3];
  const int64_t *offsets = numbers + 4;
  auto *x = static_cast<const T *>(arrays[0]);
  auto *places = static_cast<int64_t *>(arrays[1]);
  for (int64_t line = 0; size && line < outer * inner; ++line) {
    int64_t first = line / inner * size * inner + line % inner;
    for (int64_t s = 0; s < pieces; ++s)
      sortPiece(x + first, places + first, offsets[s], offsets[s + 1], inner, static_cast<Entry *>(arrays[2]));
  }
}

} // namespace

extern "C" void dyn_argsort(DynContext *, int32_t, int32_t element, const int64_t *numbers, void *const *arrays) {
  switch (element) {
  case 0:
    return sortLines<float>(numbers, arrays);
  case 1:
    return sortLines<double>(numbers, arrays);
  default:
    return sortLines<int64_t>(numbers, arrays);
  }
}
