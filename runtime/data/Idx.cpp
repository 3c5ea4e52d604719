//===- Idx.cpp ------------------------------------------------------------===//
#include "runtime/data/Idx.h"

#include "runtime/data/Bytes.h"
#include "runtime/data/InputFile.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace dyn::data {
namespace {

struct Header {
  int type = 0;
  int64_t bytes = 0; ///< of the header
  Extent extent;
};

int64_t sizeOfType(int type) {
  switch (type) {
  case 0x08:
  case 0x09:
    return 1;
  case 0x0b:
    return 2;
  case 0x0c:
  case 0x0d:
    return 4;
  case 0x0e:
    return 8;
  default:
    return 0;
  }
}

uint64_t bigEndian(const uint8_t *bytes, int64_t count) {
  uint64_t value = 0;
  for (int64_t i = 0; i < count; ++i)
    value = value << 8 | bytes[i];
  return value;
}

double decode(int type, const uint8_t *bytes) {
  switch (type) {
  case 0x08:
    return bytes[0];
  case 0x09:
    return int8_t(bytes[0]);
  case 0x0b:
    return int16_t(bigEndian(bytes, 2));
  case 0x0c:
    return int32_t(bigEndian(bytes, 4));
  case 0x0d:
    return double(std::bit_cast<float>(uint32_t(bigEndian(bytes, 4))));
  default:
    return std::bit_cast<double>(bigEndian(bytes, 8));
  }
}

Status wrong(const InputFile &file, const std::string &what) { return Status::error("`" + file.path() + "`: " + what); }

/// The sizes must be those of data that can be in a file of this length.
Status checkSize(const InputFile &file, const Header &header) {
  __int128 total = sizeOfType(header.type);
  int64_t most = file.isCompressed() ? file.diskSize() * mostExpansion : file.diskSize();
  for (int64_t size : header.extent.shape)
    total = std::min<__int128>(total * size, __int128(1) << 100);
  total = total * header.extent.rows + header.bytes;
  if (total > most)
    return wrong(file, "the header promises " + std::to_string(header.extent.rows) + " rows, more than its " +
                           std::to_string(file.diskSize()) + " bytes can hold; fetch it again");
  return {};
}

Expected<Header> readHeader(InputFile &file) {
  uint8_t bytes[4 + 4 * 255];
  Expected<int64_t> got = file.read(bytes, 4);
  if (!got)
    return got.status();
  Header header;
  header.type = bytes[2];
  int64_t dimensions = bytes[3];
  if (*got < 4 || bytes[0] || bytes[1] || sizeOfType(header.type) == 0)
    return wrong(file, "does not start like an idx file (two zero bytes and a type); is it another format?");
  if (dimensions == 0)
    return wrong(file, "the header names no dimensions, expected one at least");
  got = file.read(bytes, 4 * dimensions);
  if (!got)
    return got.status();
  if (*got < 4 * dimensions)
    return wrong(file, "ends inside its header");
  header.bytes = 4 + 4 * dimensions;
  header.extent.rows = int64_t(bigEndian(bytes, 4));
  for (int64_t i = 1; i < dimensions; ++i)
    header.extent.shape.push_back(int64_t(bigEndian(bytes + 4 * i, 4)));
  if (header.extent.rows == 0 || std::count(header.extent.shape.begin(), header.extent.shape.end(), 0))
    return wrong(file, "a dimension has size 0");
  Status status = checkSize(file, header);
  if (!status.isOk())
    return status;
  return header;
}

class IdxReader : public Reader {
public:
  IdxReader(InputFile file, Header header) : file(std::move(file)), header(std::move(header)) {
    rowBytes = sizeOfType(this->header.type) * this->header.extent.width();
  }

  Status read(int64_t lo, int64_t hi, double *out) override {
    if (lo != row) {
      Status status = file.seek(header.bytes + lo * rowBytes);
      if (!status.isOk())
        return status;
      row = lo;
    }
    if (bytes.empty())
      bytes.resize(static_cast<size_t>(rowBytes));
    int64_t size = sizeOfType(header.type);
    for (; row < hi; ++row) {
      Expected<int64_t> got = file.read(bytes.data(), rowBytes);
      if (!got)
        return got.status();
      if (*got < rowBytes)
        return wrong(file, "ends inside row " + std::to_string(row) + " of " + std::to_string(header.extent.rows) +
                               "; fetch it again");
      for (int64_t i = 0; i < rowBytes; i += size)
        *out++ = decode(header.type, bytes.data() + i);
    }
    return {};
  }

  int64_t width() const override { return header.extent.width(); }

  std::string place(int64_t at) const override { return file.path() + ", row " + std::to_string(at); }

private:
  InputFile file;
  Header header;
  int64_t rowBytes = 0;
  int64_t row = 0;
  std::vector<uint8_t> bytes;
};

} // namespace

Expected<Extent> inspectIdx(const std::string &path) {
  Expected<InputFile> file = InputFile::open(path);
  if (!file)
    return file.status();
  Expected<Header> header = readHeader(*file);
  if (!header)
    return header.status();
  return header->extent;
}

Expected<std::unique_ptr<Reader>> openIdx(const std::string &path) {
  Expected<InputFile> file = InputFile::open(path);
  if (!file)
    return file.status();
  Expected<Header> header = readHeader(*file);
  if (!header)
    return header.status();
  return std::unique_ptr<Reader>(std::make_unique<IdxReader>(std::move(*file), std::move(*header)));
}

} // namespace dyn::data
