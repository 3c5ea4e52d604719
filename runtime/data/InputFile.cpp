//===- InputFile.cpp ------------------------------------------------------===//
#include "runtime/data/InputFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <zlib.h>

namespace dyn::data {

Expected<InputFile> InputFile::open(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    std::string hint = errno == ENOENT ? "; paths are relative to the spec's folder" : "";
    return Status::error("cannot read `" + path + "`: " + std::strerror(errno) + hint);
  }
  struct stat about = {};
  std::string refusal;
  if (fstat(descriptor, &about) != 0)
    refusal = std::string("cannot be read: ") + std::strerror(errno);
  else if (S_ISDIR(about.st_mode))
    refusal = "is a folder; name a file in it";
  else if (!S_ISREG(about.st_mode))
    refusal = "is not a regular file; copy its contents to one";
  else if (about.st_size == 0)
    refusal = "is empty";
  unsigned char magic[2] = {};
  bool gzip = refusal.empty() && pread(descriptor, magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
  gzFile file = refusal.empty() ? gzdopen(descriptor, "rb") : nullptr;
  if (!file) {
    ::close(descriptor);
    return Status::error("`" + path + "` " + (refusal.empty() ? "cannot be read: out of memory" : refusal));
  }
  gzbuffer(file, 64 << 10);
  InputFile input;
  input.name = path;
  input.file = file;
  input.size = about.st_size;
  input.compressed = gzip;
  return input;
}

InputFile::InputFile(InputFile &&other) noexcept { *this = std::move(other); }

InputFile &InputFile::operator=(InputFile &&other) noexcept {
  std::swap(name, other.name);
  std::swap(file, other.file);
  std::swap(size, other.size);
  std::swap(compressed, other.compressed);
  return *this;
}

InputFile::~InputFile() {
  if (file)
    gzclose(file);
}

static Status damaged(const std::string &path, gzFile file) {
  int code = Z_OK;
  const char *text = gzerror(file, &code);
  if (code == Z_ERRNO)
    return Status::error("cannot read `" + path + "`: " + std::strerror(errno));
  if (code == Z_BUF_ERROR)
    return Status::error("`" + path + "` ends in the middle of its gzip stream; fetch it again");
  return Status::error("`" + path + "` is damaged gzip (" + text + "); fetch it again");
}

Expected<int64_t> InputFile::read(void *out, int64_t bytes) {
  int64_t done = 0;
  while (done < bytes) {
    unsigned piece = unsigned(std::min<int64_t>(bytes - done, 1 << 30));
    int got = gzread(file, static_cast<char *>(out) + done, piece);
    int code = Z_OK;
    gzerror(file, &code);
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END))
      return damaged(name, file);
    if (got == 0)
      break;
    done += got;
  }
  return done;
}

Status InputFile::seek(int64_t position) {
  gzclearerr(file);
  if (gzseek(file, position, SEEK_SET) < 0)
    return damaged(name, file);
  return {};
}

std::string quoteForMessage(std::string_view text) {
  constexpr size_t most = 40;
  std::string out = "`";
  for (char c : text.substr(0, most))
    out += (c >= 0x20 && c < 0x7f && c != '`') ? c : '?';
  return out + (text.size() > most ? "…`" : "`");
}

} // namespace dyn::data
