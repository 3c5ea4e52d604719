//===- Fmt_test.cpp - dync fmt ----------------------------------*- C++ -*-===//

#include "frontend/driver/Fmt.h"

#include "frontend/TestFiles.h"

#include <gtest/gtest.h>

using namespace dyn;
namespace fs = std::filesystem;

namespace {

class Fmt : public ::testing::Test {
protected:
  void SetUp() override {
    folder = fs::path(::testing::TempDir()) / ("dyn_fmt_" + std::to_string(::getpid()));
    fs::create_directories(folder);
    path = (folder / "a.dyn").string();
  }
  void TearDown() override { fs::remove_all(folder); }

  void write(const std::string &text) { std::ofstream(path, std::ios::binary) << text; }

  fs::path folder;
  std::string path;
};

} // namespace

TEST_F(Fmt, RewritesAndKeepsTheMode) {
  write("x=1   # one\n");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(runFmt(path, false, false), 0);
  EXPECT_EQ(test::readFile(path), "x = 1  # one\n");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1) << "nothing is left behind";
}

TEST_F(Fmt, LeavesCanonicalFilesAlone) {
  write("x = 1\n");
  auto before = fs::last_write_time(path) - std::chrono::hours(1);
  fs::last_write_time(path, before);
  EXPECT_EQ(runFmt(path, false, false), 0);
  EXPECT_EQ(fs::last_write_time(path), before);
}

TEST_F(Fmt, CheckNamesTheFileAndWritesNothing) {
  write("x=1\n");
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(runFmt(path, true, false), 1);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), path + "\n");
  EXPECT_EQ(test::readFile(path), "x=1\n");
  write("x = 1\n");
  EXPECT_EQ(runFmt(path, true, false), 0);
}

TEST_F(Fmt, PrintsToStandardOutput) {
  write("x=1\n");
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(runFmt(path, false, true), 0);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "x = 1\n");
  EXPECT_EQ(test::readFile(path), "x=1\n");
}

TEST_F(Fmt, LeavesBrokenFilesAsTheyAre) {
  write("x = = 1\n");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(runFmt(path, false, false), 1);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("[E0002]"), std::string::npos);
  EXPECT_EQ(test::readFile(path), "x = = 1\n");
}

TEST_F(Fmt, SaysWhatCannotBeRead) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(runFmt((folder / "none.dyn").string(), false, false), 1);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("No such file"), std::string::npos);
}
