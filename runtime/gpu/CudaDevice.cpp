//===- CudaDevice.cpp - an NVIDIA GPU through its driver ------------------===//
#include "runtime/Device.h"
#include "runtime/gpu/CudaDriver.h"

#include <charconv>
#include <cstring>
#include <map>

namespace dyn {
namespace gpu {
namespace {

class CudaQueue : public Device::Queue {
public:
  CudaQueue(const CudaDriver &driver, CuHandle context, CuHandle stream)
      : driver(driver), context(context), stream(stream) {}
  ~CudaQueue() override {
    driver.setContext(context);
    driver.synchronize(stream);
    for (auto &[code, module] : modules)
      driver.unloadModule(module);
    driver.destroyStream(stream);
  }

  Status launch(const Launch &launch) override {
    // Whoever runs the loop may do so in another thread each time.
    driver.setContext(context);
    Expected<CuHandle> function = find(launch.code, launch.kernel);
    if (!function)
      return function.status();
    int result = driver.launch(*function, unsigned(launch.blocks), 1, 1, unsigned(launch.threads), 1, 1,
                               /*sharedBytes=*/0, stream, launch.arguments, nullptr);
    return driver.check(result, "starting a kernel");
  }

  Status wait() override {
    driver.setContext(context);
    return driver.check(driver.synchronize(stream), "a kernel");
  }

private:
  /// Texts are known by their addresses: a queue lives no longer than the program that it runs.
  Expected<CuHandle> find(const char *code, const char *kernel) {
    if (auto known = functions.find({code, kernel}); known != functions.end())
      return known->second;
    CuHandle &module = modules[code];
    if (!module)
      if (Status status = driver.check(driver.loadModule(&module, code), "loading code"); !status.isOk())
        return status;
    CuHandle function = nullptr;
    Status status = driver.check(driver.findFunction(&function, module, kernel), "finding a kernel");
    if (!status.isOk())
      return status;
    functions[{code, kernel}] = function;
    return function;
  }

  const CudaDriver &driver;
  CuHandle context, stream;
  std::map<const char *, CuHandle> modules;
  std::map<std::pair<const char *, const char *>, CuHandle> functions;
};

class CudaDevice : public Device {
public:
  CudaDevice(const CudaDriver &driver, CuDevice device, CuHandle context, std::string name, int major, int minor)
      : driver(driver), device(device), context(context), name(std::move(name)), major(major), minor(minor) {}
  ~CudaDevice() override { driver.releaseContext(device); }

  /// Code for an architecture runs on later ones too.
  std::string target() const override { return major >= 9 ? "sm_90" : "sm_80"; }
  std::string describe() const override {
    return name + ", sm_" + std::to_string(major) + std::to_string(minor);
  }

  Expected<void *> allocate(int64_t bytes) override {
    constexpr unsigned attachGlobal = 1;
    driver.setContext(context);
    CuAddress address = 0;
    Status status =
        driver.check(driver.allocateManaged(&address, static_cast<size_t>(bytes), attachGlobal), "allocating memory");
    if (!status.isOk())
      return status;
    void *memory = reinterpret_cast<void *>(address);
    std::memset(memory, 0, static_cast<size_t>(bytes));
    return memory;
  }
  void release(void *memory) override {
    driver.setContext(context);
    driver.release(reinterpret_cast<CuAddress>(memory));
  }

  Expected<std::unique_ptr<Queue>> queue() override {
    driver.setContext(context);
    CuHandle stream = nullptr;
    if (Status status = driver.check(driver.createStream(&stream, 0), "making a stream"); !status.isOk())
      return status;
    return std::unique_ptr<Queue>(new CudaQueue(driver, context, stream));
  }

private:
  const CudaDriver &driver;
  CuDevice device;
  CuHandle context;
  std::string name;
  int major, minor;
};

Expected<std::shared_ptr<Device>> openDevice(int number) {
  Expected<const CudaDriver *> found = CudaDriver::find();
  if (!found)
    return found.status();
  const CudaDriver &driver = **found;
  int count = 0;
  if (Status status = driver.check(driver.deviceCount(&count), "counting CUDA devices"); !status.isOk())
    return status;
  if (count == 0)
    return Status::error("there is no CUDA device: the driver finds none");
  if (number >= count)
    return Status::error("there is no CUDA device of that number; the last one is `cuda:" + std::to_string(count - 1) +
                         "`");
  CuDevice device = 0;
  char name[256] = "";
  int major = 0, minor = 0, concurrent = 0;
  Status status = driver.check(driver.deviceGet(&device, number), "opening a CUDA device");
  if (!status.isOk())
    return status;
  driver.deviceName(name, sizeof name, device);
  driver.deviceAttribute(&major, capabilityMajor, device);
  driver.deviceAttribute(&minor, capabilityMinor, device);
  driver.deviceAttribute(&concurrent, concurrentManagedAccess, device);
  if (major < 8)
    return Status::error(std::string("the device `") + name + "` is older than sm_80");
  if (!concurrent)
    return Status::error(std::string("the device `") + name + "` cannot share memory with the host while it computes");
  CuHandle context = nullptr;
  status = driver.check(driver.retainContext(&context, device), "opening a CUDA device");
  if (!status.isOk())
    return status;
  return std::shared_ptr<Device>(new CudaDevice(driver, device, context, name, major, minor));
}

} // namespace
} // namespace gpu

Expected<std::shared_ptr<Device>> Device::open(const std::string &name) {
  constexpr std::string_view kind = "cuda";
  std::string_view rest = name;
  int number = 0;
  bool known = rest.substr(0, kind.size()) == kind;
  rest.remove_prefix(std::min(rest.size(), kind.size()));
  if (known && !rest.empty()) {
    auto parsed = std::from_chars(rest.data() + 1, rest.data() + rest.size(), number);
    known = rest[0] == ':' && parsed.ec == std::errc() && parsed.ptr == rest.data() + rest.size() && number >= 0;
  }
  if (!known)
    return Status::error("no device has that name; `cuda` is the first GPU, `cuda:1` the second");
  return gpu::openDevice(number);
}

} // namespace dyn
