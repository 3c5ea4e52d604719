#include "runtime/jit/ObjectCache.h"

#include "gtest/gtest.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace dyn;
namespace fs = std::filesystem;

namespace {

class ObjectCacheTest : public testing::Test {
protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "dyn-cache-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string folder;
  CacheEntry entry{"{\"name\": \"plan\"}", std::string("\x7f"
                                                       "ELF\0object",
                                                       11)};
};

TEST_F(ObjectCacheTest, GivesBackWhatWasStored) {
  ObjectCache cache(folder + "/made/when/needed");
  CacheKey key = cacheKeyOf("spec");
  EXPECT_FALSE(cache.load(key));
  ASSERT_TRUE(cache.store(key, entry));
  auto found = cache.load(key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->planJson, entry.planJson);
  EXPECT_EQ(found->object, entry.object);
  EXPECT_FALSE(cache.load(cacheKeyOf("another spec")));
}

TEST_F(ObjectCacheTest, DropsWhatIsDamaged) {
  ObjectCache cache(folder);
  CacheKey key = cacheKeyOf("spec");
  ASSERT_TRUE(cache.store(key, entry));
  uintmax_t size = fs::file_size(cache.pathOf(key));
  // Every byte counts; so does every length.
  for (uintmax_t at = 0; at < size; ++at) {
    ASSERT_TRUE(cache.store(key, entry));
    {
      std::fstream file(cache.pathOf(key), std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(std::streamoff(at));
      char byte = char(file.get() ^ 0x10);
      file.seekp(std::streamoff(at));
      file.put(byte);
    }
    EXPECT_FALSE(cache.load(key)) << "byte " << at;
    EXPECT_FALSE(fs::exists(cache.pathOf(key)));
  }
  for (uintmax_t length = 0; length < size; length += 7) {
    ASSERT_TRUE(cache.store(key, entry));
    fs::resize_file(cache.pathOf(key), length);
    EXPECT_FALSE(cache.load(key)) << "length " << length;
  }
}

TEST_F(ObjectCacheTest, DropsAnEntryUnderAnotherName) {
  ObjectCache cache(folder);
  ASSERT_TRUE(cache.store(cacheKeyOf("a"), entry));
  fs::rename(cache.pathOf(cacheKeyOf("a")), cache.pathOf(cacheKeyOf("b")));
  EXPECT_FALSE(cache.load(cacheKeyOf("b")));
}

TEST_F(ObjectCacheTest, EvictsWhatWasUsedLongestAgo) {
  CacheEntry large{"{}", std::string(1000, 'x')};
  ObjectCache cache(folder, 3500);
  auto age = [&](const char *name, int hours) {
    fs::last_write_time(cache.pathOf(cacheKeyOf(name)), fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  for (const char *name : {"a", "b", "c"})
    ASSERT_TRUE(cache.store(cacheKeyOf(name), large));
  age("a", 3), age("b", 2), age("c", 1);
  ASSERT_TRUE(cache.load(cacheKeyOf("a"))); // used now
  ASSERT_TRUE(cache.store(cacheKeyOf("d"), large));
  EXPECT_TRUE(cache.load(cacheKeyOf("a")));
  EXPECT_FALSE(cache.load(cacheKeyOf("b")));
  EXPECT_TRUE(cache.load(cacheKeyOf("c")));
  EXPECT_TRUE(cache.load(cacheKeyOf("d")));
}

TEST_F(ObjectCacheTest, LivesWithoutAFolder) {
  std::ofstream(folder + "/file") << "not a folder";
  ObjectCache cache(folder + "/file/below");
  EXPECT_FALSE(cache.store(cacheKeyOf("spec"), entry));
  EXPECT_FALSE(cache.load(cacheKeyOf("spec")));
}

TEST_F(ObjectCacheTest, IsSharedByProcesses) {
  // Writers of different entries under one key, readers beside them: whole entries only.
  CacheKey key = cacheKeyOf("spec");
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    pid_t id = fork();
    if (id == 0) {
      ObjectCache cache(folder);
      bool good = true;
      for (int i = 0; i < 200; ++i) {
        size_t size = size_t(100 + 1000 * child);
        cache.store(key, {std::string(size, char('a' + child)), std::string(2 * size, char('A' + child))});
        if (auto found = cache.load(key))
          good &= found->object.size() == 2 * found->planJson.size() && found->object[0] == found->planJson[0] - 32;
        else
          good = false;
      }
      _exit(good ? 0 : 1);
    }
    children.push_back(id);
  }
  for (pid_t id : children) {
    int status = 0;
    ASSERT_EQ(waitpid(id, &status, 0), id);
    EXPECT_EQ(status, 0);
  }
}

TEST(CacheKey, DependsOnEveryByte) {
  EXPECT_EQ(cacheKeyOf("spec").hex(), cacheKeyOf("spec").hex());
  EXPECT_NE(cacheKeyOf("spec").hex(), cacheKeyOf("Spec").hex());
  EXPECT_EQ(cacheKeyOf("").hex().size(), 32u);
}

} // namespace
