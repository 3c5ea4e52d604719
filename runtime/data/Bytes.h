//===- Bytes.h - bytes to read in order, wherever they are ----------------===//
#ifndef DYN_RUNTIME_DATA_BYTES_H
#define DYN_RUNTIME_DATA_BYTES_H

#include "runtime/Status.h"

#include <cstdint>
#include <string>

namespace dyn::data {

/// Deflate packs at most 1,032 bytes into one: a header that promises more is wrong.
inline constexpr int64_t mostExpansion = 1040;

/// A file, or a member of an archive.
class Bytes {
public:
  virtual ~Bytes() = default;
  /// Up to `bytes` bytes; fewer only at the end. Fails on what is damaged or cut.
  virtual Expected<int64_t> read(void *out, int64_t bytes) = 0;
  /// The next read starts at this byte of the unpacked contents.
  virtual Status seek(int64_t position) = 0;
  /// "`x.npy`" or "`d.npz`, member `x`", for messages.
  virtual std::string name() const = 0;
  /// No more bytes can come out of it than this.
  virtual int64_t most() const = 0;
};

} // namespace dyn::data
#endif // DYN_RUNTIME_DATA_BYTES_H
