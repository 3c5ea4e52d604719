//===- RunFolder.cpp ------------------------------------------------------===//
#include "runtime/RunFolder.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <unistd.h>

namespace dyn {

RunFolder::~RunFolder() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Expected<RunFolder> RunFolder::claim(const std::string &directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    return Status::error("cannot make the folder `" + directory + "`: " + error.message());
  RunFolder folder;
  folder.descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A file system without locks lets everybody in, as it would any two programs.
  if (folder.descriptor >= 0 && ::flock(folder.descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return Status::error("another run writes to `" + directory +
                         "`; wait for its end, or name another folder with `--out`");
  // What cannot be taken away cannot be written either, and is reported when it is.
  for (auto &entry : std::filesystem::directory_iterator(directory, error)) {
    std::string name = entry.path().filename().string();
    if (name == "final.safetensors" || (name.starts_with("step-") && name.ends_with(".safetensors")))
      std::filesystem::remove(entry.path(), error);
  }
  return folder;
}

} // namespace dyn
