//===- Ring.h - bytes from one thread to another --------------------------===//
#ifndef DYN_RUNTIME_RING_H
#define DYN_RUNTIME_RING_H

#include "runtime/Arena.h"

#include <atomic>
#include <cstdint>
#include <cstring>

namespace dyn {

/// What stands before the values of a record.
struct RecordHeader {
  int64_t metric; ///< skip: nothing follows up to the end of the buffer
  int64_t at;
  int32_t element; ///< as in dyn_emit
  int32_t bytes;   ///< of the values, before padding to 8

  static constexpr int64_t skip = -1;
};

/// A lock-free queue of records from one producer to one consumer. Records are contiguous: one that does not
/// fit before the end of the buffer starts at its beginning.
class Ring {
public:
  /// Room for `capacity` bytes (rounded up to a power of two); the largest record must fit four times.
  static Expected<Ring> create(int64_t capacity) {
    int64_t size = 4096;
    while (size < capacity)
      size *= 2;
    Expected<Block> block = Block::create(size);
    if (!block)
      return block.status();
    Ring ring;
    ring.memory = std::move(*block);
    ring.mask = uint64_t(size) - 1;
    return ring;
  }
  Ring() = default;
  Ring(Ring &&other) noexcept : memory(std::move(other.memory)), mask(other.mask) {}
  Ring &operator=(Ring &&other) noexcept {
    memory = std::move(other.memory);
    mask = other.mask;
    return *this;
  }

  /// Producer: false when there is no room now.
  bool push(const RecordHeader &header, const void *values) {
    uint64_t need = spaceFor(header.bytes), tail = written.load(std::memory_order_relaxed);
    uint64_t toEnd = mask + 1 - (tail & mask);
    uint64_t total = need <= toEnd ? need : toEnd + need;
    if (tail + total - knownRead > mask + 1) {
      knownRead = read.load(std::memory_order_acquire);
      if (tail + total - knownRead > mask + 1)
        return false;
    }
    if (need > toEnd) {
      // Records are multiples of 8 bytes: there is room for the mark at least.
      std::memcpy(at(tail), &RecordHeader::skip, sizeof(int64_t));
      tail += toEnd;
    }
    std::memcpy(at(tail), &header, sizeof(header));
    std::memcpy(at(tail) + sizeof(header), values, size_t(header.bytes));
    written.store(tail + need, std::memory_order_release);
    return true;
  }

  /// Consumer: hands all records that are there to take(header, bytes); true when there were any.
  template <typename Take> bool drain(Take take) {
    uint64_t head = read.load(std::memory_order_relaxed);
    uint64_t tail = written.load(std::memory_order_acquire);
    bool any = head != tail;
    while (head != tail) {
      int64_t metric;
      std::memcpy(&metric, at(head), sizeof(metric));
      if (metric == RecordHeader::skip) {
        head += mask + 1 - (head & mask);
        continue;
      }
      RecordHeader header;
      std::memcpy(&header, at(head), sizeof(header));
      take(header, at(head) + sizeof(header));
      head += spaceFor(header.bytes);
      read.store(head, std::memory_order_release);
    }
    return any;
  }

private:
  Block memory;
  uint64_t mask = 0;
  alignas(64) std::atomic<uint64_t> written{0};
  uint64_t knownRead = 0; ///< the producer's last look at `read`
  alignas(64) std::atomic<uint64_t> read{0};

  char *at(uint64_t position) const { return static_cast<char *>(memory.data()) + (position & mask); }
  static uint64_t spaceFor(int32_t bytes) { return sizeof(RecordHeader) + ((uint64_t(uint32_t(bytes)) + 7) & ~7ull); }
};

} // namespace dyn
#endif // DYN_RUNTIME_RING_H
