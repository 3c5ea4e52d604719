//===- Device.h - where kernels run that are not this machine's -----------===//
//
// A device gives memory that host code and kernels both reach, and queues that
// run kernels in order. Its driver is a library that is looked for when a
// device is asked for; a build needs none. A person names devices `cuda` (the
// first) or `cuda:1`; generated code meets them through dyn_launch and dyn_wait.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_DEVICE_H
#define DYN_RUNTIME_DEVICE_H

#include "runtime/Status.h"

#include <cstdint>
#include <memory>
#include <string>

namespace dyn {

/// One start of a kernel.
struct Launch {
  const char *code;    ///< text that the kernel is in; stays where it is as long as the queue
  const char *kernel;  ///< its name there
  int64_t blocks, threads;
  void **arguments;    ///< the i-th points at the i-th argument; read before launch() returns
};

class Device {
public:
  /// The code that one session has loaded, and its kernels in the order in which they were started.
  class Queue {
  public:
    virtual ~Queue() = default;
    /// Starts a kernel; loads its code the first time.
    virtual Status launch(const Launch &launch) = 0;
    /// Returns once all of them are done. What failed on the way is said here.
    virtual Status wait() = 0;
  };

  virtual ~Device() = default;
  /// Opens the device of a name. The message of a failure says what is missing.
  static Expected<std::shared_ptr<Device>> open(const std::string &name);

  /// What code for it is made for: the name of a Target.
  virtual std::string target() const = 0;
  /// For people: `NVIDIA H200, sm_90`.
  virtual std::string describe() const = 0;
  /// Zeroed memory, at an address that is the same for the host and for kernels; `bytes` > 0.
  virtual Expected<void *> allocate(int64_t bytes) = 0;
  virtual void release(void *memory) = 0;
  virtual Expected<std::unique_ptr<Queue>> queue() = 0;
};

} // namespace dyn
#endif // DYN_RUNTIME_DEVICE_H
