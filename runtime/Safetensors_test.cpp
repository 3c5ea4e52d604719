#include "runtime/Safetensors.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace dyn;

namespace {

class SafetensorsTest : public testing::Test {
protected:
  std::string path = (std::filesystem::temp_directory_path() / (std::to_string(getpid()) + "t.safetensors")).string();
  void TearDown() override { std::filesystem::remove(path); }
};

TEST_F(SafetensorsTest, arraysComeBack) {
  float f[6] = {1, 2, 3, 4, 5, 6};
  double d[1] = {0.1};
  Status status = writeSafetensors(path, {{"net.\"W\"", plan::Element::f32, {2, 3}, f}, {"net.b", plan::Element::f64, {}, d}});
  ASSERT_TRUE(status.isOk()) << status.message();
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
  auto tensors = readSafetensors(path);
  ASSERT_TRUE(tensors) << tensors.status().message();
  ASSERT_EQ(tensors->size(), 2u);
  const Tensor &w = (*tensors)["net.\"W\""];
  EXPECT_EQ(w.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::memcmp(w.bytes.data(), f, sizeof(f)), 0);
  EXPECT_EQ((*tensors)["net.b"].element, plan::Element::f64);
}

TEST_F(SafetensorsTest, headerIsAlignedAndTruncationRefused) {
  float f[6] = {};
  ASSERT_TRUE(writeSafetensors(path, {{"W", plan::Element::f32, {6}, f}}).isOk());
  auto size = std::filesystem::file_size(path);
  EXPECT_EQ((size - 24) % 8, 0u);
  for (size_t keep : {size_t(size - 1), size_t(20), size_t(4), size_t(0)}) {
    std::filesystem::resize_file(path, keep);
    EXPECT_FALSE(readSafetensors(path));
  }
}

TEST_F(SafetensorsTest, unwritablePlacesAreNamed) {
  EXPECT_EQ(writeSafetensors("/nowhere/x", {}).message(),
            "cannot write `/nowhere/x.part`: No such file or directory");
}

} // namespace
