// A kernel written by hand, on the device that there is; on a machine without one only what is said about that.
#include "runtime/Device.h"

#include "gtest/gtest.h"

#include <cstdlib>

using namespace dyn;

namespace {

/// y[i] += a for i < n, one thread an element.
constexpr const char *addText = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 y, .param .f64 a, .param .u64 n) {
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<5>;
  .reg .f64 %d<3>;
  ld.param.u64 %rd1, [y];
  ld.param.f64 %d1, [a];
  ld.param.u64 %rd2, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.wide.u32 %rd3, %r1, %r2, 0;
  cvt.u64.u32 %rd4, %r3;
  add.u64 %rd3, %rd3, %rd4;
  setp.ge.u64 %p1, %rd3, %rd2;
  @%p1 bra done;
  shl.b64 %rd3, %rd3, 3;
  add.u64 %rd1, %rd1, %rd3;
  ld.f64 %d2, [%rd1];
  add.rn.f64 %d2, %d2, %d1;
  st.f64 [%rd1], %d2;
done:
  ret;
})";

class CudaDeviceTest : public testing::Test {
protected:
  void SetUp() override {
    auto opened = Device::open("cuda");
    if (!opened)
      GTEST_SKIP() << opened.status().message();
    device = *opened;
  }
  std::shared_ptr<Device> device;
};

TEST_F(CudaDeviceTest, RunsKernelsInOrderOnMemoryThatTheHostSees) {
  constexpr int64_t count = 1000;
  auto memory = device->allocate(count * 8);
  ASSERT_TRUE(memory) << memory.status().message();
  auto *y = static_cast<double *>(*memory);
  for (int64_t i = 0; i < count; ++i)
    EXPECT_EQ(y[i], 0);
  auto queue = device->queue();
  ASSERT_TRUE(queue) << queue.status().message();
  double a = 1.5;
  int64_t n = count;
  void *arguments[] = {&y, &a, &n};
  for (int round = 0; round < 3; ++round) {
    Status status = (*queue)->launch({addText, "add", 4, 256, arguments});
    ASSERT_TRUE(status.isOk()) << status.message();
    a *= 2; // arguments were read
  }
  Status status = (*queue)->wait();
  ASSERT_TRUE(status.isOk()) << status.message();
  for (int64_t i = 0; i < count; ++i)
    EXPECT_EQ(y[i], 1.5 + 3 + 6);
  device->release(y);
}

TEST_F(CudaDeviceTest, RefusesCodeThatIsNone) {
  auto queue = device->queue();
  ASSERT_TRUE(queue);
  Status status = (*queue)->launch({"not ptx", "add", 1, 1, nullptr});
  EXPECT_EQ(status.message().substr(0, 20), "loading code failed:");
}

TEST(Device, NamesAreChecked) {
  for (const char *name : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda1", "sm_90"})
    EXPECT_EQ(Device::open(name).status().message(),
              "no device has that name; `cuda` is the first GPU, `cuda:1` the second")
        << name;
  EXPECT_FALSE(Device::open("cuda:999"));
}

} // namespace
