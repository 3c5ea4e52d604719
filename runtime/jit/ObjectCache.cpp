//===- ObjectCache.cpp - compiled programs on disk ------------------------===//
#include "runtime/jit/ObjectCache.h"

#include "runtime/abi.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

namespace dyn {
namespace {

constexpr char magic[8] = {'D', 'Y', 'N', 'O', 'B', 'J', '0', '1'};
constexpr const char *suffix = ".dyno";

/// The first bytes of an entry; the plan and the object follow.
struct Header {
  char magic[8];
  uint64_t keyLow, keyHigh;
  uint64_t planBytes, objectBytes;
  uint64_t checksumLow, checksumHigh; ///< of plan and object together
};

XXH128_hash_t checksum(const CacheEntry &entry) {
  XXH128_hash_t plan = XXH3_128bits(entry.planJson.data(), entry.planJson.size());
  return XXH3_128bits_withSeed(entry.object.data(), entry.object.size(), plan.low64 ^ plan.high64);
}

std::string defaultFolder() {
  auto value = [](const char *name) {
    const char *v = std::getenv(name);
    return std::string(v ? v : "");
  };
  if (std::string own = value("DYN_CACHE_DIR"); !own.empty())
    return own;
  if (std::string xdg = value("XDG_CACHE_HOME"); !xdg.empty())
    return xdg + "/dync";
  if (std::string home = value("HOME"); !home.empty())
    return home + "/.cache/dync";
  return "";
}

/// Notes of one loaded image: finds the linker's build id.
int findBuildId(struct dl_phdr_info *info, size_t, void *result) {
  auto &id = *static_cast<std::string *>(result);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto &header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE)
      continue;
    const char *at = reinterpret_cast<const char *>(info->dlpi_addr + header.p_vaddr), *end = at + header.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char *name = at + sizeof note, *content = name + ((note.n_namesz + 3) & ~3u);
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !std::memcmp(name, "GNU", 4))
        id.append(content, note.n_descsz);
      at = content + ((note.n_descsz + 3) & ~3u);
    }
  }
  return 0; // every image counts: the compiler's libraries too
}

/// Identity of everything loaded: build ids where the linker wrote them, else size and time of the executable.
std::string buildIdentity() {
  std::string id;
  dl_iterate_phdr(findBuildId, &id);
  struct stat executable;
  if (stat("/proc/self/exe", &executable) == 0) {
    id += std::to_string(executable.st_size) + "." + std::to_string(executable.st_mtim.tv_sec) + "." +
          std::to_string(executable.st_mtim.tv_nsec);
  }
  return id;
}

void warnOnce(const std::string &folder, const std::string &why) {
  static std::atomic<bool> said{false};
  if (!said.exchange(true))
    std::fprintf(stderr, "warning: compiled programs are not kept: %s: %s\n",
                 folder.empty() ? "no cache folder" : folder.c_str(), why.c_str());
}

bool writeAll(int file, const void *data, size_t size) {
  const char *at = static_cast<const char *>(data);
  while (size) {
    ssize_t written = ::write(file, at, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    at += written, size -= static_cast<size_t>(written);
  }
  return true;
}

} // namespace

std::string CacheKey::hex() const {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(high),
                static_cast<unsigned long long>(low));
  return text;
}

CacheKey cacheKeyOf(std::string_view content) {
  static const std::string build = buildIdentity();
  uint64_t seed = XXH3_64bits_withSeed(build.data(), build.size(), DYN_ABI_VERSION);
  XXH128_hash_t hash = XXH3_128bits_withSeed(content.data(), content.size(), seed);
  return {hash.low64, hash.high64};
}

ObjectCache::ObjectCache() : ObjectCache(defaultFolder()) {}
ObjectCache::ObjectCache(std::string folder, uint64_t limitBytes) : root(std::move(folder)), limit(limitBytes) {}

std::string ObjectCache::pathOf(const CacheKey &key) const { return root + "/" + key.hex() + suffix; }

std::optional<CacheEntry> ObjectCache::load(const CacheKey &key) {
  if (root.empty())
    return std::nullopt;
  std::string path = pathOf(key);
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file)
    return std::nullopt;
  // The size of the file that is open: another process may put a new one in its place at any time.
  auto size = static_cast<uint64_t>(file.tellg());
  file.seekg(0);
  std::error_code error;
  Header header{};
  CacheEntry entry;
  file.read(reinterpret_cast<char *>(&header), sizeof header);
  bool whole = file && !std::memcmp(header.magic, magic, sizeof magic) && header.keyLow == key.low &&
               header.keyHigh == key.high && header.planBytes <= size && header.objectBytes <= size &&
               sizeof header + header.planBytes + header.objectBytes == size;
  if (whole) {
    entry.planJson.resize(header.planBytes);
    entry.object.resize(header.objectBytes);
    file.read(entry.planJson.data(), static_cast<std::streamsize>(header.planBytes));
    file.read(entry.object.data(), static_cast<std::streamsize>(header.objectBytes));
    XXH128_hash_t sum = checksum(entry);
    whole = bool(file) && sum.low64 == header.checksumLow && sum.high64 == header.checksumHigh;
  }
  if (!whole) {
    fs::remove(path, error);
    return std::nullopt;
  }
  // The time of last use orders eviction; failing to note it costs nothing.
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return entry;
}

bool ObjectCache::store(const CacheKey &key, const CacheEntry &entry) {
  bool written = write(key, entry);
  if (written)
    evict();
  return written;
}

bool ObjectCache::store(const std::vector<std::pair<CacheKey, CacheEntry>> &entries) {
  bool written = std::all_of(entries.begin(), entries.end(),
                             [&](const auto &each) { return write(each.first, each.second); });
  if (written)
    evict();
  return written;
}

bool ObjectCache::write(const CacheKey &key, const CacheEntry &entry) {
  std::error_code error;
  if (!root.empty())
    fs::create_directories(root, error);
  if (root.empty() || error) {
    warnOnce(root, error ? error.message() : "none of DYN_CACHE_DIR, XDG_CACHE_HOME and HOME is set");
    return false;
  }
  std::string temporary = root + "/.new-XXXXXX";
  int file = ::mkstemp(temporary.data());
  if (file < 0) {
    warnOnce(root, std::strerror(errno));
    return false;
  }
  XXH128_hash_t sum = checksum(entry);
  Header header{{}, key.low, key.high, entry.planJson.size(), entry.object.size(), sum.low64, sum.high64};
  std::memcpy(header.magic, magic, sizeof magic);
  bool written = writeAll(file, &header, sizeof header) &&
                 writeAll(file, entry.planJson.data(), entry.planJson.size()) &&
                 writeAll(file, entry.object.data(), entry.object.size());
  written = ::close(file) == 0 && written;
  if (!written || ::rename(temporary.c_str(), pathOf(key).c_str()) != 0) {
    warnOnce(root, std::strerror(errno));
    ::unlink(temporary.c_str());
    return false;
  }
  return true;
}

void ObjectCache::evict() {
  struct File {
    fs::path path;
    uint64_t bytes;
    fs::file_time_type used;
  };
  std::vector<File> files;
  uint64_t total = 0;
  std::error_code error;
  for (fs::directory_iterator at(root, error), end; !error && at != end; at.increment(error)) {
    std::error_code each;
    File file{at->path(), at->file_size(each), at->last_write_time(each)};
    if (each)
      continue;
    std::string name = file.path.filename().string();
    // What a killed process left behind goes after an hour.
    if (name.starts_with(".new-") && fs::file_time_type::clock::now() - file.used > std::chrono::hours(1))
      fs::remove(file.path, each);
    if (file.path.extension() != suffix)
      continue;
    total += file.bytes;
    files.push_back(std::move(file));
  }
  if (total <= limit)
    return;
  std::sort(files.begin(), files.end(), [](const File &a, const File &b) { return a.used < b.used; });
  for (const File &file : files) {
    if (total <= limit)
      return;
    std::error_code each;
    if (fs::remove(file.path, each))
      total -= file.bytes;
  }
}

} // namespace dyn
