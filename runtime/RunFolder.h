//===- RunFolder.h - where one run writes ---------------------------------===//
#ifndef DYN_RUNTIME_RUNFOLDER_H
#define DYN_RUNTIME_RUNFOLDER_H

#include "runtime/Status.h"

#include <string>
#include <utility>

namespace dyn {

/// A folder that is ours alone as long as this lives, and as long as the process does: the system ends the claim of a
/// process that is killed. Holds one run: what an earlier one left as its result is taken away, so that metrics and
/// parameters are never those of two.
class RunFolder {
public:
  /// Makes the folder if it is missing. Fails while another run writes to it.
  static Expected<RunFolder> claim(const std::string &directory);
  RunFolder() = default;
  RunFolder(RunFolder &&other) noexcept : descriptor(std::exchange(other.descriptor, -1)) {}
  RunFolder &operator=(RunFolder &&other) noexcept {
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  ~RunFolder();

private:
  int descriptor = -1;
};

} // namespace dyn
#endif // DYN_RUNTIME_RUNFOLDER_H
