//===- CudaDriver.h - NVIDIA's driver, found when it is asked for ---------===//
//
// Names, types and numbers are those of the driver API, CUDA 12.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_GPU_CUDADRIVER_H
#define DYN_RUNTIME_GPU_CUDADRIVER_H

#include "runtime/Status.h"

#include <cstddef>
#include <cstdint>

namespace dyn::gpu {

using CuDevice = int;
using CuHandle = void *; ///< of a context, module, function or stream
using CuAddress = uint64_t;

/// One row for each function that is used: name, symbol in the library, parameters. All return 0 or an error.
#define DYN_CUDA_FUNCTIONS(ROW)                                                                                        \
  ROW(init, cuInit, (unsigned))                                                                                        \
  ROW(deviceCount, cuDeviceGetCount, (int *))                                                                          \
  ROW(deviceGet, cuDeviceGet, (CuDevice *, int))                                                                       \
  ROW(deviceName, cuDeviceGetName, (char *, int, CuDevice))                                                            \
  ROW(deviceAttribute, cuDeviceGetAttribute, (int *, int, CuDevice))                                                   \
  ROW(retainContext, cuDevicePrimaryCtxRetain, (CuHandle *, CuDevice))                                                 \
  ROW(releaseContext, cuDevicePrimaryCtxRelease_v2, (CuDevice))                                                        \
  ROW(setContext, cuCtxSetCurrent, (CuHandle))                                                                         \
  ROW(allocateManaged, cuMemAllocManaged, (CuAddress *, size_t, unsigned))                                             \
  ROW(release, cuMemFree_v2, (CuAddress))                                                                              \
  ROW(loadModule, cuModuleLoadData, (CuHandle *, const void *))                                                        \
  ROW(unloadModule, cuModuleUnload, (CuHandle))                                                                        \
  ROW(findFunction, cuModuleGetFunction, (CuHandle *, CuHandle, const char *))                                         \
  ROW(createStream, cuStreamCreate, (CuHandle *, unsigned))                                                            \
  ROW(destroyStream, cuStreamDestroy_v2, (CuHandle))                                                                   \
  ROW(synchronize, cuStreamSynchronize, (CuHandle))                                                                    \
  ROW(launch, cuLaunchKernel,                                                                                          \
      (CuHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CuHandle, void **, void **))    \
  ROW(errorText, cuGetErrorString, (int, const char **))

struct CudaDriver {
#define DYN_ROW(NAME, SYMBOL, PARAMETERS) int(*NAME) PARAMETERS = nullptr;
  DYN_CUDA_FUNCTIONS(DYN_ROW)
#undef DYN_ROW

  /// The driver of this machine, started once; says what is missing when there is none.
  static Expected<const CudaDriver *> find();
  /// What the driver says about a result, with what was tried.
  Status check(int result, const char *what) const;
};

/// Numbers of attributes of a device.
enum CuAttribute { capabilityMajor = 75, capabilityMinor = 76, concurrentManagedAccess = 89 };

} // namespace dyn::gpu
#endif // DYN_RUNTIME_GPU_CUDADRIVER_H
