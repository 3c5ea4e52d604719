//===- Arena.h - the memory of a run, allocated once ----------------------===//
#ifndef DYN_RUNTIME_ARENA_H
#define DYN_RUNTIME_ARENA_H

#include "runtime/Device.h"
#include "runtime/Plan.h"
#include "runtime/Status.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace dyn {

/// One zeroed block, aligned to 64 bytes, or to 2 MB with huge pages asked for
/// when it has 4 MB or more. Every page is touched on creation, so that no
/// step faults. With a device its memory is the device's. Owns its memory;
/// movable.
class Block {
public:
  Block() = default;
  static Expected<Block> create(int64_t bytes, std::shared_ptr<Device> device = nullptr);
  Block(Block &&other) noexcept;
  Block &operator=(Block &&other) noexcept;
  ~Block();

  void *data() const { return base; }
  int64_t bytes() const { return size; }

private:
  void *base = nullptr;
  int64_t size = 0;
  std::shared_ptr<Device> device; ///< whose memory it is; null: this machine's
};

/// Blocks by number of their arena, null for the others: what several sessions of one program have in common.
using SharedBlocks = std::vector<std::shared_ptr<const Block>>;

/// All arenas of a plan, in its order.
class Arenas {
public:
  /// Fails when memory is short, naming the arena and its size. `shared`: blocks that stand for an arena of their own;
  /// empty, or one entry an arena.
  static Expected<Arenas> create(const std::vector<plan::Arena> &list, const SharedBlocks &shared = {},
                                 const std::shared_ptr<Device> &device = nullptr);

  /// What DynContext::arenas points at; stable while this lives and is not moved from.
  void *const *bases() const { return pointers.data(); }
  void *operator[](int64_t arena) const { return pointers[static_cast<size_t>(arena)]; }
  int64_t count() const { return static_cast<int64_t>(pointers.size()); }
  const std::shared_ptr<const Block> &block(int64_t arena) const { return blocks[static_cast<size_t>(arena)]; }

private:
  SharedBlocks blocks;
  std::vector<void *> pointers;
};

} // namespace dyn
#endif // DYN_RUNTIME_ARENA_H
