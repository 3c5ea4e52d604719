//===- CudaDriver.cpp -----------------------------------------------------===//
#include "runtime/gpu/CudaDriver.h"

#include <dlfcn.h>

namespace dyn::gpu {
namespace {

constexpr const char *libraryName = "libcuda.so.1";

Expected<const CudaDriver *> load() {
  static CudaDriver driver;
  void *library = dlopen(libraryName, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Status::error(std::string("there is no CUDA device: the driver's library `") + libraryName +
                         "` is not on this machine; install NVIDIA's driver");
#define DYN_ROW(NAME, SYMBOL, PARAMETERS)                                                                              \
  driver.NAME = reinterpret_cast<int(*) PARAMETERS>(dlsym(library, #SYMBOL));                                          \
  if (!driver.NAME)                                                                                                    \
    return Status::error(std::string("the CUDA driver has no `" #SYMBOL "`; install one for CUDA 12 or later"));
  DYN_CUDA_FUNCTIONS(DYN_ROW)
#undef DYN_ROW
  if (Status status = driver.check(driver.init(0), "starting the CUDA driver"); !status.isOk())
    return status;
  return &driver;
}

} // namespace

Expected<const CudaDriver *> CudaDriver::find() {
  static const Expected<const CudaDriver *> found = load();
  return found;
}

Status CudaDriver::check(int result, const char *what) const {
  if (result == 0)
    return {};
  const char *text = nullptr;
  if (errorText(result, &text) != 0 || !text)
    text = "unknown error";
  return Status::error(std::string(what) + " failed: " + text + " (" + std::to_string(result) + ")");
}

} // namespace dyn::gpu
