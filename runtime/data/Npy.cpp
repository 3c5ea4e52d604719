//===- Npy.cpp ------------------------------------------------------------===//
#include "runtime/data/Npy.h"

#include "runtime/data/InputFile.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace dyn::data {
namespace {

/// numpy writes a few hundred bytes; a damaged length must not fill the memory.
constexpr int64_t longestHeader = 1 << 20;

/// Whole numbers up to here are doubles too.
constexpr int64_t mostExact = int64_t(1) << 53;

struct Header {
  char kind = 0;      ///< b, i, u or f
  int64_t size = 0;   ///< bytes of a value
  bool isBigEndian = false;
  bool isFortran = false;
  int64_t bytes = 0;  ///< before the first value
  Extent extent;
};

Status wrong(const Bytes &bytes, const std::string &what) { return Status::error(bytes.name() + ": " + what); }

//===----------------------------------------------------------------------===//
// The header's dict
//===----------------------------------------------------------------------===//

/// Reads the few forms that numpy writes; `rest` is what is left.
class DictParser {
public:
  explicit DictParser(std::string_view text) : rest(text) {}

  /// Whether all of the dict was read.
  bool parse(std::string &descr, bool &fortran, std::vector<int64_t> &shape) {
    bool seen[3] = {};
    if (!take('{'))
      return false;
    while (!take('}')) {
      std::optional<std::string> key = quoted();
      if (!key || !take(':'))
        return false;
      int which = *key == "descr" ? 0 : *key == "fortran_order" ? 1 : *key == "shape" ? 2 : -1;
      if (which < 0 || seen[which])
        return false;
      seen[which] = true;
      if (!(which == 0 ? description(descr) : which == 1 ? truth(fortran) : sizes(shape)))
        return false;
      if (!take(',') && !next('}'))
        return false;
    }
    return seen[0] && seen[1] && seen[2];
  }

private:
  std::string_view rest;

  void skip() { rest.remove_prefix(std::min(rest.find_first_not_of(" \n\t"), rest.size())); }
  bool next(char c) {
    skip();
    return !rest.empty() && rest[0] == c;
  }
  bool take(char c) {
    bool found = next(c);
    rest.remove_prefix(found);
    return found;
  }
  bool takeWord(std::string_view word) {
    skip();
    bool found = rest.substr(0, word.size()) == word;
    rest.remove_prefix(found ? word.size() : 0);
    return found;
  }

  std::optional<std::string> quoted() {
    skip();
    if (rest.empty() || (rest[0] != '\'' && rest[0] != '"'))
      return std::nullopt;
    size_t end = rest.find(rest[0], 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string text(rest.substr(1, end - 1));
    rest.remove_prefix(end + 1);
    return text;
  }

  /// `'<f4'`; of a structured type all there is, `[('x', '<f4'), …]`.
  bool description(std::string &descr) {
    if (next('[')) {
      descr = rest.substr(0, rest.find(']') + 1);
      rest.remove_prefix(descr.size());
      return true;
    }
    std::optional<std::string> text = quoted();
    descr = text.value_or("");
    return text.has_value();
  }

  bool truth(bool &value) {
    value = takeWord("True");
    return value || takeWord("False");
  }

  bool sizes(std::vector<int64_t> &shape) {
    if (!take('('))
      return false;
    while (!take(')')) {
      skip();
      int64_t size = 0;
      auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
      if (error != std::errc() || size < 0)
        return false;
      rest.remove_prefix(static_cast<size_t>(end - rest.data()));
      shape.push_back(size);
      if (!take(',') && !next(')'))
        return false;
    }
    return true;
  }
};

/// How a type that has no place in a run is called, by the letter of numpy's code.
struct OtherType {
  char kind;
  const char *what;
};
constexpr OtherType otherTypes[] = {
    {'O', "Python objects, which only Python can read; save an array of numbers"},
    {'U', "text; save numbers, for example the index of each word"},
    {'S', "text; save numbers, for example the index of each word"},
    {'V', "raw bytes; save an array of numbers"},
    {'c', "complex numbers; save real and imaginary part"},
    {'M', "dates; save numbers, for example days since the first"},
    {'m', "spans of time; save numbers, for example seconds"},
    {'[', "records of several types; save each column as an array of its own"},
};

Content contentOf(char kind) {
  return kind == 'b' ? Content::truth : kind == 'f' ? Content::real : Content::whole;
}

Status takeType(const Bytes &bytes, const std::string &descr, Header &header) {
  std::string_view code = descr;
  char order = '|';
  if (!code.empty() && std::string_view("<>|=").find(code[0]) != std::string_view::npos) {
    order = code[0];
    code.remove_prefix(1);
  }
  header.kind = code.empty() ? 0 : code[0];
  std::string shown = "its type " + quoteForMessage(descr);
  for (const OtherType &type : otherTypes)
    if (header.kind == type.kind)
      return wrong(bytes, shown + " is of " + type.what);
  std::string_view digits = code.substr(std::min<size_t>(1, code.size()));
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), header.size);
  bool isNumber = error == std::errc() && end == digits.data() + digits.size();
  static constexpr std::string_view known[] = {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"};
  if (!isNumber || std::find(std::begin(known), std::end(known), code) == std::end(known))
    return wrong(bytes, shown + " is not read; there are bool, int8 to int64, uint8 to uint64, float16, float32 and float64");
  header.isBigEndian = order == '>';
  header.extent.content = contentOf(header.kind);
  return {};
}

/// The sizes must be those of data that can be in these bytes.
Status checkSize(const Bytes &bytes, const Header &header) {
  if (std::count(header.extent.shape.begin(), header.extent.shape.end(), 0) || header.extent.rows == 0)
    return wrong(bytes, "a dimension has size 0");
  __int128 total = header.size;
  for (int64_t size : header.extent.shape)
    total = std::min<__int128>(total * size, __int128(1) << 60);
  total = total * header.extent.rows + header.bytes;
  if (total > bytes.most())
    return wrong(bytes, "the header promises " + std::to_string(header.extent.rows) +
                            " rows, more than the file can hold; save or fetch it again");
  return {};
}

Expected<int64_t> readExactly(Bytes &bytes, void *out, int64_t count, const char *part) {
  Expected<int64_t> got = bytes.read(out, count);
  if (got && *got < count)
    return wrong(bytes, std::string("ends inside its ") + part);
  return got;
}

Expected<Header> readHeader(Bytes &bytes) {
  uint8_t start[12] = {};
  Expected<int64_t> got = bytes.read(start, 8);
  if (!got)
    return got.status();
  static constexpr uint8_t magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  if (*got < 8 || !std::equal(std::begin(magic), std::end(magic), start))
    return wrong(bytes, "does not start like an .npy file; is it another format?");
  if (start[6] < 1 || start[6] > 3)
    return wrong(bytes, "is of version " + std::to_string(start[6]) + " of the format; 1 to 3 are read");
  int64_t digits = start[6] == 1 ? 2 : 4, length = 0;
  if (got = readExactly(bytes, start + 8, digits, "header"); !got)
    return got.status();
  for (int64_t i = digits; i-- > 0;)
    length = length << 8 | start[8 + i];
  if (length > longestHeader)
    return wrong(bytes, "its header claims " + std::to_string(length) + " bytes; save or fetch it again");
  std::string text(static_cast<size_t>(length), '\0');
  if (got = readExactly(bytes, text.data(), length, "header"); !got)
    return got.status();
  Header header;
  header.bytes = 8 + digits + length;
  std::string descr;
  std::vector<int64_t> shape;
  if (!DictParser(text).parse(descr, header.isFortran, shape))
    return wrong(bytes, "its header " + quoteForMessage(text) + " is not as numpy writes one");
  Status status = takeType(bytes, descr, header);
  if (!status.isOk())
    return status;
  if (shape.empty())
    return wrong(bytes, "holds one number, expected rows");
  header.extent.rows = shape.front();
  header.extent.shape.assign(shape.begin() + 1, shape.end());
  status = checkSize(bytes, header);
  if (!status.isOk())
    return status;
  return header;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// IEEE 754 half precision.
double decodeHalf(uint64_t bits) {
  int exponent = int(bits >> 10 & 31);
  double fraction = double(bits & 1023) / 1024, sign = bits >> 15 ? -1 : 1;
  if (exponent == 31)
    return fraction == 0 ? sign * INFINITY : NAN;
  return sign * (exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15));
}

class NpyReader : public Reader {
public:
  NpyReader(std::unique_ptr<Bytes> bytes, Header header)
      : bytes(std::move(bytes)), header(std::move(header)), rowBytes(this->header.size * this->header.extent.width()) {}

  int64_t width() const override { return header.extent.width(); }
  std::string place(int64_t row) const override { return bytes->name() + ", row " + std::to_string(row); }

  Status read(int64_t lo, int64_t hi, double *out) override {
    if (hi > header.extent.rows)
      return wrong(*bytes, "has " + std::to_string(header.extent.rows) + " rows, row " +
                               std::to_string(header.extent.rows) + " was expected; has the file changed?");
    if (header.isFortran)
      return readScattered(lo, hi, out);
    if (lo != next) {
      Status status = bytes->seek(header.bytes + lo * rowBytes);
      if (!status.isOk())
        return status;
      next = lo;
    }
    buffer.resize(static_cast<size_t>(rowBytes));
    for (; next < hi; ++next) {
      Status status = fill(rowBytes);
      for (int64_t i = 0; status.isOk() && i < width(); ++i)
        status = decode(buffer.data() + i * header.size, next, i, *out++);
      if (!status.isOk())
        return status;
    }
    return {};
  }

private:
  std::unique_ptr<Bytes> bytes;
  Header header;
  int64_t rowBytes;
  int64_t next = 0;             ///< row that the next byte belongs to
  std::vector<uint8_t> buffer;  ///< one row; in Fortran order the whole array
  std::vector<int64_t> columns; ///< Fortran order: where each number of a row stands, in numbers, from the row's first

  Status fill(int64_t count) {
    Expected<int64_t> got = bytes->read(buffer.data(), count);
    if (!got)
      return got.status();
    if (*got == count)
      return {};
    int64_t at = header.bytes + next * rowBytes + *got;
    std::string row = header.isFortran ? "" : "inside row " + std::to_string(next) + " of " +
                                                  std::to_string(header.extent.rows) + ", ";
    return wrong(*bytes, "ends " + row + "at byte " + std::to_string(at) + "; save or fetch it again");
  }

  /// Fortran order: the first index runs fastest, so the numbers of a row are `rows` and more apart.
  Status readScattered(int64_t lo, int64_t hi, double *out) {
    if (columns.empty()) {
      buffer.resize(static_cast<size_t>(header.extent.rows * rowBytes));
      Status status = fill(int64_t(buffer.size()));
      if (!status.isOk())
        return status;
      columns = columnOffsets();
    }
    for (int64_t row = lo; row < hi; ++row)
      for (size_t i = 0; i < columns.size(); ++i) {
        Status status = decode(buffer.data() + (row + columns[i]) * header.size, row, int64_t(i), *out++);
        if (!status.isOk())
          return status;
      }
    return {};
  }

  std::vector<int64_t> columnOffsets() const {
    const std::vector<int64_t> &shape = header.extent.shape;
    std::vector<int64_t> offsets(static_cast<size_t>(width()));
    for (size_t i = 0; i < offsets.size(); ++i) {
      int64_t rest = int64_t(i), inner = width(), stride = header.extent.rows;
      for (int64_t size : shape) {
        inner /= size;
        offsets[i] += rest / inner * stride;
        rest %= inner;
        stride *= size;
      }
    }
    return offsets;
  }

  uint64_t bitsAt(const uint8_t *at) const {
    uint64_t bits = 0;
    for (int64_t i = 0; i < header.size; ++i)
      bits = bits << 8 | at[header.isBigEndian ? i : header.size - 1 - i];
    return bits;
  }

  Status decode(const uint8_t *at, int64_t row, int64_t column, double &out) const {
    uint64_t bits = bitsAt(at);
    if (header.kind == 'f') {
      out = header.size == 2   ? decodeHalf(bits)
            : header.size == 4 ? double(std::bit_cast<float>(uint32_t(bits)))
                               : std::bit_cast<double>(bits);
      return {};
    }
    if (header.kind == 'b') {
      out = bits != 0;
      return {};
    }
    int unused = 64 - 8 * int(header.size);
    int64_t value = header.kind == 'i' ? int64_t(bits << unused) >> unused : int64_t(bits);
    bool isExact = header.kind == 'u' ? bits <= uint64_t(mostExact) : value >= -mostExact && value <= mostExact;
    if (!isExact)
      return wrong(*bytes, "row " + std::to_string(row) + ", number " + std::to_string(column) + ": " +
                               (header.kind == 'u' ? std::to_string(bits) : std::to_string(value)) +
                               " is beyond 2^53, where whole numbers stop being exact; save smaller numbers");
    out = double(value);
    return {};
  }
};

/// A file as bytes.
class FileBytes : public Bytes {
public:
  explicit FileBytes(InputFile file) : file(std::move(file)) {}
  Expected<int64_t> read(void *out, int64_t count) override { return file.read(out, count); }
  Status seek(int64_t position) override { return file.seek(position); }
  std::string name() const override { return "`" + file.path() + "`"; }
  int64_t most() const override { return file.isCompressed() ? file.diskSize() * mostExpansion : file.diskSize(); }

private:
  InputFile file;
};

} // namespace

Expected<Extent> inspectNpy(Bytes &bytes) {
  Expected<Header> header = readHeader(bytes);
  if (!header)
    return header.status();
  return header->extent;
}

Expected<std::unique_ptr<Reader>> openNpy(std::unique_ptr<Bytes> bytes) {
  Expected<Header> header = readHeader(*bytes);
  if (!header)
    return header.status();
  return std::unique_ptr<Reader>(std::make_unique<NpyReader>(std::move(bytes), std::move(*header)));
}

Expected<Extent> inspectNpy(const std::string &path) {
  Expected<InputFile> file = InputFile::open(path);
  if (!file)
    return file.status();
  FileBytes bytes(std::move(*file));
  return inspectNpy(bytes);
}

Expected<std::unique_ptr<Reader>> openNpy(const std::string &path) {
  Expected<InputFile> file = InputFile::open(path);
  if (!file)
    return file.status();
  return openNpy(std::make_unique<FileBytes>(std::move(*file)));
}

} // namespace dyn::data
