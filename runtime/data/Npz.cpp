//===- Npz.cpp - by libzip -------------------------------------------------===//
#include "runtime/data/Npz.h"

#include "runtime/data/InputFile.h"
#include "runtime/data/Npy.h"

#include <algorithm>
#include <string_view>
#include <zip.h>

namespace dyn::data {
namespace {

constexpr std::string_view suffix = ".npy";

struct CloseArchive {
  void operator()(zip_t *archive) const { zip_discard(archive); }
};
struct CloseMember {
  void operator()(zip_file_t *file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, CloseArchive>;
using Member = std::unique_ptr<zip_file_t, CloseMember>;

Expected<Archive> openArchive(const std::string &path) {
  // What is missing, a folder or empty is refused in the same words as for other files.
  Expected<InputFile> file = InputFile::open(path);
  if (!file)
    return file.status();
  int code = 0;
  Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (archive)
    return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  return Status::error("`" + path + "`: does not open as an .npz file, a zip archive (" + reason +
                       "); save or fetch it again");
}

/// An array of an archive as bytes; unpacked as they are read.
class MemberBytes : public Bytes {
public:
  MemberBytes(std::string path, std::string member, Archive archive)
      : path(std::move(path)), member(std::move(member)), archive(std::move(archive)) {}

  /// Finds the member and stands at its first byte.
  Status start() {
    zip_stat_t about;
    zip_stat_init(&about);
    std::string inArchive = member + std::string(suffix);
    if (zip_stat(archive.get(), inArchive.c_str(), 0, &about) != 0)
      return Status::error("`" + path + "` has no array `" + member + "`; " + otherNames());
    index = about.index;
    // Sizes are claims of the archive: no more than deflate can pack is believed.
    int64_t packed = int64_t(std::min<uint64_t>(about.comp_size, uint64_t(1) << 52));
    size = int64_t(std::min<uint64_t>(about.size, uint64_t(packed) * mostExpansion));
    return reopen();
  }

  Expected<int64_t> read(void *out, int64_t bytes) override {
    int64_t done = 0;
    while (done < bytes) {
      zip_int64_t got = zip_fread(file.get(), static_cast<char *>(out) + done, uint64_t(bytes - done));
      if (got < 0)
        return damaged();
      if (got == 0)
        break;
      done += got;
    }
    position += done;
    // The check sum is compared where the member ends, which libzip sees when it is asked for more.
    char beyond = 0;
    if (position >= size && zip_fread(file.get(), &beyond, 1) != 0)
      return damaged();
    return done;
  }

  Status seek(int64_t to) override {
    if (to < position) {
      Status status = reopen();
      if (!status.isOk())
        return status;
    }
    char skipped[4096];
    while (position < to) {
      Expected<int64_t> got = read(skipped, std::min<int64_t>(to - position, sizeof(skipped)));
      if (!got)
        return got.status();
      if (*got == 0)
        break; // the read behind it says what is missing
    }
    return {};
  }

  std::string name() const override { return "`" + path + "`, member `" + member + "`"; }
  int64_t most() const override { return size; }

private:
  std::string path, member;
  Archive archive;
  Member file;
  uint64_t index = 0;
  int64_t size = 0, position = 0;

  Status damaged() {
    return Status::error(name() + ": is damaged (" + zip_file_strerror(file.get()) + "); save or fetch it again");
  }

  Status reopen() {
    position = 0;
    file.reset(zip_fopen_index(archive.get(), index, 0));
    if (!file)
      return Status::error(name() + ": cannot be read (" + zip_strerror(archive.get()) + "); save it again");
    return {};
  }

  std::string otherNames() const;
};

std::vector<std::string> namesOf(zip_t *archive) {
  std::vector<std::string> names;
  for (zip_int64_t i = 0, count = zip_get_num_entries(archive, 0); i < count; ++i) {
    const char *text = zip_get_name(archive, zip_uint64_t(i), 0);
    std::string_view name = text ? text : "";
    if (name.size() > suffix.size() && name.substr(name.size() - suffix.size()) == suffix)
      names.emplace_back(name.substr(0, name.size() - suffix.size()));
  }
  return names;
}

std::string MemberBytes::otherNames() const {
  std::string list;
  for (const std::string &name : namesOf(archive.get()))
    list += (list.empty() ? "it has " : ", ") + quoteForMessage(name);
  return list.empty() ? "it has none" : list;
}

Expected<std::unique_ptr<MemberBytes>> openMember(const std::string &path, const std::string &member) {
  Expected<Archive> archive = openArchive(path);
  if (!archive)
    return archive.status();
  auto bytes = std::make_unique<MemberBytes>(path, member, std::move(*archive));
  Status status = bytes->start();
  if (!status.isOk())
    return status;
  return bytes;
}

} // namespace

Expected<std::vector<std::string>> npzMembers(const std::string &path) {
  Expected<Archive> archive = openArchive(path);
  if (!archive)
    return archive.status();
  std::vector<std::string> names = namesOf(archive->get());
  if (names.empty())
    return Status::error("`" + path + "` holds no arrays; `numpy.savez` writes them");
  return names;
}

Expected<Extent> inspectNpz(const std::string &path, const ReadOptions &options) {
  Expected<std::unique_ptr<MemberBytes>> bytes = openMember(path, options.member);
  if (!bytes)
    return bytes.status();
  return inspectNpy(**bytes);
}

Expected<std::unique_ptr<Reader>> openNpz(const std::string &path, const ReadOptions &options) {
  Expected<std::unique_ptr<MemberBytes>> bytes = openMember(path, options.member);
  if (!bytes)
    return bytes.status();
  return openNpy(std::unique_ptr<Bytes>(std::move(*bytes)));
}

} // namespace dyn::data
