//===- Source.h - Source files, spans and line tables -----------*- C++ -*-===//
//
// A Span names a range of bytes of one file; a SourceFile turns offsets into lines and columns. Nothing
// here knows the language.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dyn {

/// Names a file of a SourceManager; 0 is "no file".
using FileId = uint32_t;

/// Half-open byte range [begin, end) of one file. A default span belongs to no file and is never printed.
struct Span {
  FileId file = 0;
  uint32_t begin = 0;
  uint32_t end = 0;

  bool isValid() const { return file != 0; }
  uint32_t size() const { return end - begin; }
  bool operator==(const Span &) const = default;

  /// The smallest span that covers both; an invalid one does not count.
  static Span cover(Span a, Span b);
};

/// A place as people count it: both from 1, the column in code points, not bytes.
struct LineColumn {
  uint32_t line = 1;
  uint32_t column = 1;
};

/// One file: its name as shown to users, its bytes, and where its lines begin.
class SourceFile {
public:
  SourceFile(FileId id, std::string path, std::string text);

  FileId id() const { return fileId; }
  const std::string &path() const { return filePath; }
  std::string_view text() const { return content; }
  std::string_view text(Span span) const;

  /// Line and column of a byte offset; an offset behind the end is that of the end.
  LineColumn lineColumn(uint32_t offset) const;
  uint32_t lineCount() const { return static_cast<uint32_t>(lineStarts.size()); }
  /// The text of a line (from 1) without its line end.
  std::string_view line(uint32_t number) const;
  /// Byte offset at which a line (from 1) begins.
  uint32_t lineBegin(uint32_t number) const { return lineStarts[number - 1]; }

private:
  FileId fileId;
  std::string filePath;
  std::string content;
  std::vector<uint32_t> lineStarts;
};

/// Owns the files of one compilation. Files never move, so references to them stay good.
class SourceManager {
public:
  /// Reads a file; null, with the system's reason in `error`, if that cannot be done.
  const SourceFile *load(const std::string &path, std::string &error);
  /// Lets `load` take this text for that path, whatever the file holds by then.
  void provide(const std::string &path, std::string text) { provided[path] = std::move(text); }
  /// Takes a text that has no file (a test, standard input, an embedded library).
  const SourceFile &add(std::string path, std::string text);

  /// Null for an id that is not ours.
  const SourceFile *file(FileId id) const;
  const SourceFile *file(Span span) const { return file(span.file); }
  /// `path:line:column`, or an empty string for an invalid span.
  std::string describe(Span span) const;

private:
  std::vector<std::unique_ptr<SourceFile>> files;
  std::map<std::string, std::string> provided;
};

/// Number of code points in UTF-8 text; a byte that is no valid UTF-8 counts as one.
size_t codePoints(std::string_view text);

/// Offset of the first byte that is not valid UTF-8, if there is one.
std::optional<size_t> findInvalidUtf8(std::string_view text);

} // namespace dyn
