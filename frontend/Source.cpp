//===- Source.cpp - Source files, spans and line tables ---------*- C++ -*-===//

#include "frontend/Source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <sys/stat.h>

using namespace dyn;

Span Span::cover(Span a, Span b) {
  if (!a.isValid())
    return b;
  if (!b.isValid() || a.file != b.file)
    return a;
  return {a.file, std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

SourceFile::SourceFile(FileId id, std::string path, std::string text)
    : fileId(id), filePath(std::move(path)), content(std::move(text)) {
  lineStarts.push_back(0);
  for (size_t i = 0; i < content.size(); ++i)
    if (content[i] == '\n')
      lineStarts.push_back(static_cast<uint32_t>(i + 1));
}

std::string_view SourceFile::text(Span span) const {
  size_t begin = std::min<size_t>(span.begin, content.size());
  size_t end = std::clamp<size_t>(span.end, begin, content.size());
  return std::string_view(content).substr(begin, end - begin);
}

LineColumn SourceFile::lineColumn(uint32_t offset) const {
  offset = static_cast<uint32_t>(std::min<size_t>(offset, content.size()));
  auto next = std::upper_bound(lineStarts.begin(), lineStarts.end(), offset);
  uint32_t begin = *std::prev(next);
  size_t column = codePoints(std::string_view(content).substr(begin, offset - begin)) + 1;
  return {static_cast<uint32_t>(next - lineStarts.begin()), static_cast<uint32_t>(column)};
}

std::string_view SourceFile::line(uint32_t number) const {
  if (number == 0 || number > lineStarts.size())
    return {};
  size_t begin = lineStarts[number - 1];
  size_t end = number < lineStarts.size() ? lineStarts[number] - 1 : content.size();
  if (end > begin && content[end - 1] == '\r')
    --end;
  return std::string_view(content).substr(begin, end - begin);
}

const SourceFile *SourceManager::load(const std::string &path, std::string &error) {
  if (auto it = provided.find(path); it != provided.end())
    return &add(path, it->second);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    error = std::strerror(errno);
    return nullptr;
  }
  if (S_ISDIR(status.st_mode)) {
    error = "it is a folder";
    return nullptr;
  }
  if (status.st_size >= std::numeric_limits<uint32_t>::max()) {
    error = "it is larger than 4 GB";
    return nullptr;
  }
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  if (!stream || (status.st_size > 0 && !(text << stream.rdbuf()))) {
    error = std::strerror(errno);
    return nullptr;
  }
  return &add(path, std::move(text).str());
}

const SourceFile &SourceManager::add(std::string path, std::string text) {
  auto id = static_cast<FileId>(files.size() + 1);
  files.push_back(std::make_unique<SourceFile>(id, std::move(path), std::move(text)));
  return *files.back();
}

const SourceFile *SourceManager::file(FileId id) const {
  return id == 0 || id > files.size() ? nullptr : files[id - 1].get();
}

std::string SourceManager::describe(Span span) const {
  const SourceFile *source = file(span);
  if (!source)
    return {};
  LineColumn at = source->lineColumn(span.begin);
  return source->path() + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

/// Length of the valid UTF-8 sequence at the head of the text; 0 if there is none.
static size_t sequenceLength(std::string_view text) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  auto continues = [&](size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  unsigned first = byte(0);
  if (first < 0x80)
    return 1;
  if (first >= 0xC2 && first <= 0xDF)
    return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    bool overlong = first == 0xE0 && byte(1) < 0xA0;
    bool surrogate = first == 0xED && byte(1) > 0x9F;
    return continues(1) && continues(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    bool overlong = first == 0xF0 && byte(1) < 0x90;
    bool beyond = first == 0xF4 && byte(1) > 0x8F;
    return continues(1) && continues(2) && continues(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

size_t dyn::codePoints(std::string_view text) {
  size_t count = 0;
  while (!text.empty()) {
    text.remove_prefix(std::max<size_t>(1, sequenceLength(text)));
    ++count;
  }
  return count;
}

std::optional<size_t> dyn::findInvalidUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    size_t length = sequenceLength(text.substr(i));
    if (length == 0)
      return i;
    i += length;
  }
  return std::nullopt;
}
