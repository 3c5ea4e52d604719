#include "runtime/RunFolder.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dyn;

namespace {

class RunFolderTest : public testing::Test {
protected:
  std::filesystem::path folder;
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "dyn-folder-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
};

TEST_F(RunFolderTest, isOneRunsAtATime) {
  std::string path = (folder / "a/b").string();
  {
    Expected<RunFolder> first = RunFolder::claim(path);
    ASSERT_TRUE(first) << first.status().message();
    EXPECT_EQ(RunFolder::claim(path).status().message(),
              "another run writes to `" + path + "`; wait for its end, or name another folder with `--out`");
    EXPECT_TRUE(RunFolder::claim((folder / "a/c").string()));
  }
  EXPECT_TRUE(RunFolder::claim(path));
}

TEST_F(RunFolderTest, isFreeAgainWhenItsProcessWasKilled) {
  std::string path = (folder / "a").string();
  pid_t child = fork();
  if (child == 0) {
    Expected<RunFolder> mine = RunFolder::claim(path);
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(RunFolder::claim(path));
}

TEST_F(RunFolderTest, holdsNoParametersOfAnEarlierRun) {
  std::ofstream(folder / "final.safetensors") << "old";
  std::ofstream(folder / "notes.txt") << "mine";
  EXPECT_TRUE(RunFolder::claim(folder.string()));
  EXPECT_FALSE(std::filesystem::exists(folder / "final.safetensors"));
  EXPECT_TRUE(std::filesystem::exists(folder / "notes.txt"));
}

TEST_F(RunFolderTest, cannotBeAFile) {
  std::ofstream(folder / "file") << "x";
  EXPECT_EQ(RunFolder::claim((folder / "file").string()).status().message().substr(0, 22), "cannot make the folder");
}

} // namespace
