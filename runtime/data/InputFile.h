//===- InputFile.h - bytes of a file, unpacked if it is gzip --------------===//
#ifndef DYN_RUNTIME_DATA_INPUTFILE_H
#define DYN_RUNTIME_DATA_INPUTFILE_H

#include "runtime/Status.h"

#include <cstdint>
#include <string>
#include <string_view>

struct gzFile_s;

namespace dyn::data {

/// A file open for reading; gzip is found by its first bytes. Movable.
class InputFile {
public:
  /// Refuses what is missing, unreadable, a folder or empty, by name.
  static Expected<InputFile> open(const std::string &path);
  InputFile(InputFile &&other) noexcept;
  InputFile &operator=(InputFile &&other) noexcept;
  ~InputFile();

  /// Up to `bytes` bytes; fewer only at the end of the file. Fails on damaged or truncated gzip.
  Expected<int64_t> read(void *out, int64_t bytes);
  /// The next read starts at this byte of the unpacked contents.
  Status seek(int64_t position);

  bool isCompressed() const { return compressed; }
  /// Bytes on disk.
  int64_t diskSize() const { return size; }
  const std::string &path() const { return name; }

private:
  InputFile() = default;
  std::string name;
  gzFile_s *file = nullptr;
  int64_t size = 0;
  bool compressed = false;
};

/// `text` in backquotes, cut and with control characters replaced: fit for a message whatever the file holds.
std::string quoteForMessage(std::string_view text);

} // namespace dyn::data
#endif // DYN_RUNTIME_DATA_INPUTFILE_H
