//===- Text.cpp -----------------------------------------------------------===//
#include "runtime/data/Text.h"

#include "runtime/data/InputFile.h"

#include <vector>

namespace dyn::data {
namespace {

class TextReader : public Reader {
public:
  explicit TextReader(InputFile file) : file(std::move(file)) {}

  int64_t width() const override { return 1; }

  Status read(int64_t lo, int64_t hi, double *out) override {
    if (lo != position) {
      Status status = file.seek(lo);
      if (!status.isOk())
        return status;
    }
    bytes.resize(static_cast<size_t>(hi - lo));
    Expected<int64_t> got = file.read(bytes.data(), hi - lo);
    if (!got)
      return got.status();
    position = lo + *got;
    if (position < hi)
      return Status::error("`" + file.path() + "` has " + std::to_string(position) + " bytes, byte " +
                           std::to_string(position) + " was expected; has the file changed?");
    for (uint8_t byte : bytes)
      *out++ = byte;
    return {};
  }

  std::string place(int64_t row) const override { return file.path() + ", byte " + std::to_string(row); }

private:
  InputFile file;
  int64_t position = 0;
  std::vector<uint8_t> bytes;
};

} // namespace

Expected<Extent> inspectText(const std::string &path) {
  Expected<InputFile> file = InputFile::open(path);
  if (!file)
    return file.status();
  Extent extent{file->diskSize(), {}, Content::whole};
  if (!file->isCompressed())
    return extent;
  extent.rows = 0;
  std::vector<char> buffer(64 << 10);
  while (true) {
    Expected<int64_t> got = file->read(buffer.data(), int64_t(buffer.size()));
    if (!got)
      return got.status();
    extent.rows += *got;
    if (*got < int64_t(buffer.size()))
      break;
  }
  if (extent.rows == 0)
    return Status::error("`" + path + "` is empty");
  return extent;
}

Expected<std::unique_ptr<Reader>> openText(const std::string &path) {
  Expected<InputFile> file = InputFile::open(path);
  if (!file)
    return file.status();
  return std::unique_ptr<Reader>(std::make_unique<TextReader>(std::move(*file)));
}

} // namespace dyn::data
