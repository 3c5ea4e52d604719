//===- Arena.cpp ----------------------------------------------------------===//
#include "runtime/Arena.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace dyn {
namespace {

constexpr size_t cacheLine = 64;
constexpr size_t hugePage = size_t(2) << 20;
/// From here on huge pages pay: fewer misses of the address cache double streaming reads.
constexpr size_t hugeFrom = size_t(4) << 20;

size_t roundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

} // namespace

/// Touches every page now rather than in a step.
static Expected<void *> allocate(int64_t bytes) {
  bool huge = static_cast<size_t>(bytes) >= hugeFrom;
  size_t alignment = huge ? hugePage : cacheLine;
  size_t room = roundUp(static_cast<size_t>(bytes), alignment);
  // More than the machine has may well be promised: the system would end the process at the first touch.
  size_t installed = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void *base = room <= installed ? std::aligned_alloc(alignment, room) : nullptr;
  if (!base)
    return Status::error("out of memory: " + std::to_string(bytes) + " bytes were asked for, and the machine has " +
                         std::to_string(installed));
  if (huge)
    madvise(base, room, MADV_HUGEPAGE); // advice: a refusal costs speed only
  std::memset(base, 0, room);
  return base;
}

Expected<Block> Block::create(int64_t bytes, std::shared_ptr<Device> device) {
  constexpr int64_t most = int64_t(1) << 46; // more than any machine maps; keeps roundUp from wrapping
  if (bytes < 0 || bytes > most)
    return Status::error("a block of " + std::to_string(bytes) + " bytes cannot be allocated");
  // Never empty, so that every arena has an address of its own.
  int64_t room = std::max<int64_t>(bytes, 1);
  Expected<void *> base = device ? device->allocate(room) : allocate(room);
  if (!base)
    return base.status();
  Block block;
  block.base = *base;
  block.size = bytes;
  block.device = std::move(device);
  return block;
}

Block::Block(Block &&other) noexcept
    : base(std::exchange(other.base, nullptr)), size(std::exchange(other.size, 0)), device(std::move(other.device)) {}

Block &Block::operator=(Block &&other) noexcept {
  std::swap(base, other.base);
  std::swap(size, other.size);
  std::swap(device, other.device);
  return *this;
}

Block::~Block() {
  if (device && base)
    device->release(base);
  else
    std::free(base);
}

Expected<Arenas> Arenas::create(const std::vector<plan::Arena> &list, const SharedBlocks &shared,
                                const std::shared_ptr<Device> &device) {
  Arenas arenas;
  for (size_t i = 0; i < list.size(); ++i) {
    std::shared_ptr<const Block> block = i < shared.size() ? shared[i] : nullptr;
    if (!block) {
      Expected<Block> made = Block::create(list[i].bytes, device);
      if (!made)
        return Status::error("arena `" + list[i].name + "`: " + made.status().message() +
                             "; use a smaller batch or model, or f32");
      block = std::make_shared<const Block>(std::move(*made));
    }
    arenas.pointers.push_back(block->data());
    arenas.blocks.push_back(std::move(block));
  }
  return arenas;
}

} // namespace dyn
