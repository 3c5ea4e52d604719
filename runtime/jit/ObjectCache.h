//===- ObjectCache.h - compiled programs on disk --------------------------===//
//
// A folder of files named by what they were made from. An entry is written
// beside its place and renamed, so that a reader sees a whole file or none,
// and any number of processes may share the folder. An entry carries its
// sizes and a checksum; one that does not fit them is removed and made again,
// never trusted. The folder is kept under a size limit: the entries used
// longest ago go first.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_JIT_OBJECTCACHE_H
#define DYN_RUNTIME_JIT_OBJECTCACHE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dyn {

/// 128 bits of xxh3 over everything that decides what the compiler makes.
struct CacheKey {
  uint64_t low = 0, high = 0;
  /// 32 hexadecimal digits; the name of the entry's file.
  std::string hex() const;
};
/// The key of `content`: the closure of the sources, the options, the CPU's features. This build's
/// identity and the ABI's version are added here.
CacheKey cacheKeyOf(std::string_view content);

/// What a warm start needs: no parser, no MLIR.
struct CacheEntry {
  std::string planJson;
  std::string object;
};

class ObjectCache {
public:
  /// At $DYN_CACHE_DIR, else $XDG_CACHE_HOME/dync, else ~/.cache/dync.
  ObjectCache();
  explicit ObjectCache(std::string folder, uint64_t limitBytes = uint64_t(1) << 30);

  /// The entry of a key, or nothing when it is absent or damaged (then it is removed).
  std::optional<CacheEntry> load(const CacheKey &key);
  /// False when the folder cannot be written; says why on stderr, once a process.
  bool store(const CacheKey &key, const CacheEntry &entry);
  /// Several; the folder's size is looked at once.
  bool store(const std::vector<std::pair<CacheKey, CacheEntry>> &entries);

  const std::string &folder() const { return root; }
  std::string pathOf(const CacheKey &key) const;

private:
  bool write(const CacheKey &key, const CacheEntry &entry);
  void evict();
  std::string root;
  uint64_t limit;
};

} // namespace dyn
#endif // DYN_RUNTIME_JIT_OBJECTCACHE_H
