//===- Csv.cpp ------------------------------------------------------------===//
#include "runtime/data/Csv.h"

#include "runtime/data/InputFile.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <vector>

namespace dyn::data {
namespace {

/// Nobody writes longer lines; a file without line ends must not fill the memory.
constexpr size_t longestLine = size_t(64) << 20;

/// Lines of a file, without their ends.
class Lines {
public:
  explicit Lines(InputFile input) : file(std::move(input)), buffer(64 << 10) {}

  /// False at the end. The view lives until the next call.
  Expected<bool> next(std::string_view &line) {
    size_t searched = begin;
    while (true) {
      const void *found = std::memchr(buffer.data() + searched, '\n', end - searched);
      if (found) {
        size_t at = size_t(static_cast<const char *>(found) - buffer.data());
        return take(line, at, at + 1);
      }
      if (finished)
        return begin < end ? take(line, end, end) : Expected<bool>(false);
      searched = end;
      size_t moved = begin;
      Status status = fill();
      if (!status.isOk())
        return status;
      searched -= moved;
    }
  }

  Status rewind() {
    begin = end = 0;
    number = 0;
    finished = false;
    return file.seek(0);
  }
  /// Of the last line that next gave, from 1.
  int64_t lineNumber() const { return number; }
  const std::string &path() const { return file.path(); }

private:
  InputFile file;
  std::vector<char> buffer;
  size_t begin = 0, end = 0;
  int64_t number = 0;
  bool finished = false;

  Expected<bool> take(std::string_view &line, size_t stop, size_t next) {
    line = std::string_view(buffer.data() + begin, stop - begin);
    if (!line.empty() && line.back() == '\r')
      line.remove_suffix(1);
    if (number == 0 && line.substr(0, 3) == "\xef\xbb\xbf") // the mark that some editors put first
      line.remove_prefix(3);
    begin = next;
    ++number;
    return true;
  }

  /// Moves what is left to the front and reads more behind it.
  Status fill() {
    std::memmove(buffer.data(), buffer.data() + begin, end - begin);
    end -= begin;
    begin = 0;
    if (end == buffer.size()) {
      if (buffer.size() >= longestLine)
        return Status::error("`" + path() + "`, line " + std::to_string(number + 1) +
                             ": longer than 64 MB; is this a text file?");
      buffer.resize(buffer.size() * 2);
    }
    Expected<int64_t> got = file.read(buffer.data() + end, int64_t(buffer.size() - end));
    if (!got)
      return got.status();
    finished = *got < int64_t(buffer.size() - end);
    end += size_t(*got);
    return {};
  }
};

bool isBlank(std::string_view text) { return text.find_first_not_of(" \t") == std::string_view::npos; }

std::string_view trim(std::string_view text) {
  size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

int64_t countColumns(std::string_view line) { return 1 + std::count(line.begin(), line.end(), ','); }

class CsvReader : public Reader {
public:
  CsvReader(InputFile input, const ReadOptions &options) : lines(std::move(input)), options(options) {}

  Status start() {
    Status status = lines.rewind();
    row = 0;
    std::string_view line;
    if (status.isOk() && options.header) {
      Expected<bool> more = lines.next(line);
      status = more.status();
    }
    return status;
  }

  /// Looks at the first row, counts the others.
  Expected<Extent> extent() {
    std::string_view line;
    int64_t rows = 0, blank = 0;
    while (true) {
      Expected<bool> more = lines.next(line);
      if (!more)
        return more.status();
      if (!*more)
        break;
      if (rows == 0) {
        Status status = takeFirst(line);
        if (!status.isOk())
          return status;
      }
      blank = isBlank(line) ? blank + 1 : 0;
      ++rows;
    }
    rows -= blank;
    if (rows == 0)
      return Status::error("`" + lines.path() + "` has no rows");
    return Extent{rows, {columns}, Content::real};
  }

  /// Learns the number of columns from the first row.
  Status findColumns() {
    std::string_view line;
    Expected<bool> more = lines.next(line);
    Status status = more.status();
    if (status.isOk())
      status = *more ? takeFirst(line) : Status::error("`" + lines.path() + "` has no rows");
    return status.isOk() ? start() : status;
  }

  int64_t width() const override { return columns; }

  Status read(int64_t lo, int64_t hi, double *out) override {
    if (lo < row) {
      Status status = start();
      if (!status.isOk())
        return status;
    }
    std::string_view line;
    while (row < hi) {
      Expected<bool> more = lines.next(line);
      if (!more)
        return more.status();
      if (!*more)
        return Status::error("`" + lines.path() + "` has " + std::to_string(row) + " rows, row " +
                             std::to_string(row + 1) + " was expected; has the file changed?");
      if (row >= lo) {
        Status status = parse(line, out);
        if (!status.isOk())
          return status;
        out += columns;
      }
      ++row;
    }
    return {};
  }

  std::string place(int64_t at) const override {
    return lines.path() + ":" + std::to_string(at + 1 + (options.header ? 1 : 0));
  }

private:
  int64_t columns = 0;
  Lines lines;
  ReadOptions options;
  int64_t row = 0; ///< that the next line holds

  Status takeFirst(std::string_view line) {
    if (isBlank(line))
      return wrong(0, "an empty line");
    columns = countColumns(line);
    std::vector<double> values(static_cast<size_t>(columns));
    return parse(line, values.data());
  }

  Status wrong(int64_t column, const std::string &what) const {
    std::string where = "`" + lines.path() + "`, line " + std::to_string(lines.lineNumber());
    if (column > 0)
      where += ", column " + std::to_string(column);
    return Status::error(where + ": " + what);
  }

  Status parse(std::string_view line, double *out) const {
    int64_t column = 0;
    for (size_t from = 0; from <= line.size(); ++column) {
      size_t comma = std::min(line.find(',', from), line.size());
      if (column >= columns)
        break;
      std::string_view text = trim(line.substr(from, comma - from));
      std::string_view digits = !text.empty() && text[0] == '+' ? text.substr(1) : text;
      double value = 0;
      auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (error != std::errc() || rest != digits.data() + digits.size() || (digits.size() < text.size() && digits[0] == '-'))
        return notANumber(column + 1, text, error == std::errc::result_out_of_range);
      out[column] = value;
      from = comma + 1;
    }
    int64_t seen = isBlank(line) ? 0 : countColumns(line);
    if (seen != columns)
      return wrong(0, std::to_string(seen) + " columns, the first row has " + std::to_string(columns));
    return {};
  }

  Status notANumber(int64_t column, std::string_view text, bool outOfRange) const {
    if (text.empty())
      return wrong(column, "nothing, expected a number; fill the gap or remove the row");
    if (outOfRange)
      return wrong(column, quoteForMessage(text) + " does not fit in 64 bits");
    std::string hint = lines.lineNumber() == 1 && !options.header
                           ? "; if the first line names the columns, say so (header) or remove it"
                           : "";
    return wrong(column, quoteForMessage(text) + " is not a number" + hint);
  }
};

Expected<std::unique_ptr<CsvReader>> makeReader(const std::string &path, const ReadOptions &options) {
  Expected<InputFile> file = InputFile::open(path);
  if (!file)
    return file.status();
  auto reader = std::make_unique<CsvReader>(std::move(*file), options);
  Status status = reader->start();
  if (!status.isOk())
    return status;
  return reader;
}

} // namespace

Expected<Extent> inspectCsv(const std::string &path, const ReadOptions &options) {
  Expected<std::unique_ptr<CsvReader>> reader = makeReader(path, options);
  if (!reader)
    return reader.status();
  return (*reader)->extent();
}

Expected<std::unique_ptr<Reader>> openCsv(const std::string &path, const ReadOptions &options) {
  Expected<std::unique_ptr<CsvReader>> reader = makeReader(path, options);
  if (!reader)
    return reader.status();
  Status status = (*reader)->findColumns();
  if (!status.isOk())
    return status;
  return std::unique_ptr<Reader>(std::move(*reader));
}

} // namespace dyn::data
