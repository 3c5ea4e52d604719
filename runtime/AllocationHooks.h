//===- AllocationHooks.h - how a test counts allocations in steps ---------===//
//
// test/tools/no_alloc.c, preloaded, exports the two functions looked up here;
// in an ordinary run they are absent and cost a comparison a step.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_ALLOCATIONHOOKS_H
#define DYN_RUNTIME_ALLOCATIONHOOKS_H

#include <cstdint>
#include <dlfcn.h>

namespace dyn {

struct AllocationHooks {
  void (*step)(int64_t step) = nullptr; ///< called after each update
  void (*exempt)() = nullptr;           ///< called by a thread that may allocate

  static AllocationHooks find() {
    AllocationHooks hooks;
    hooks.step = reinterpret_cast<void (*)(int64_t)>(dlsym(RTLD_DEFAULT, "dyn_no_alloc_step"));
    hooks.exempt = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "dyn_no_alloc_exempt"));
    return hooks;
  }
};

} // namespace dyn
#endif // DYN_RUNTIME_ALLOCATIONHOOKS_H
