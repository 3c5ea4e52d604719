#include "frontend/driver/Linker.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

namespace dyn {

Expected<std::string> runtimeLibrary(const std::string &name) {
  static int inThisProgram;
  llvm::SmallString<256> path(llvm::sys::fs::getMainExecutable("dync", &inThisProgram));
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, "..", "lib", "lib" + name + ".a");
  llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  if (!llvm::sys::fs::exists(path))
    return Status::error("the library `" + path.str().str() + "` is missing; install dync with `cmake --install`");
  return path.str().str();
}

bool needsLapack(const std::string &object) {
  constexpr llvm::StringRef routines[] = {
#define DYN_FUNCTION(NAME, RESULT, PARAMETERS, DOC)
#define DYN_LAPACK_ROUTINE(NAME, DOC) #NAME,
#include "runtime/Functions.def"
#undef DYN_FUNCTION
  };
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "program"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return false;
  }
  return llvm::any_of((*file)->symbols(), [&](const llvm::object::SymbolRef &symbol) {
    auto name = symbol.getName();
    if (name)
      return llvm::is_contained(routines, *name);
    llvm::consumeError(name.takeError());
    return false;
  });
}

static Expected<std::string> findDriver() {
  const char *wanted = std::getenv("CC");
  std::vector<std::string> names = {"cc", "clang", "gcc"};
  if (wanted && *wanted)
    names = {wanted};
  std::string tried;
  for (const std::string &name : names) {
    if (auto found = llvm::sys::findProgramByName(name))
      return *found;
    tried += (tried.empty() ? "`" : ", `") + name + "`";
  }
  return Status::error("there is no linker: " + tried + (names.size() > 1 ? " are" : " is") +
                       " not found; install gcc or clang, or name one in the variable CC");
}

Status link(const std::vector<std::string> &arguments) {
  Expected<std::string> driver = findDriver();
  if (!driver)
    return driver.status();
  llvm::SmallString<128> log;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("dync-link", "txt", log))
    return Status::error("cannot make a temporary file: " + error.message());
  llvm::FileRemover remover(log);
  std::vector<llvm::StringRef> all = {*driver};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::string why;
  int status = llvm::sys::ExecuteAndWait(*driver, all, std::nullopt, {llvm::StringRef(), log.str(), log.str()}, 0, 0,
                                         &why);
  if (status == 0)
    return {};
  auto said = llvm::MemoryBuffer::getFile(log);
  return Status::error("`" + *driver + "` cannot link it: " + (said ? (*said)->getBuffer().rtrim().str() : "") + why);
}

Status writeFile(const std::string &path, const std::string &content) {
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (!error) {
    file << content;
    file.close();
    error = file.error();
    file.clear_error();
  }
  return error ? Status::error("cannot write `" + path + "`: " + error.message()) : Status();
}

} // namespace dyn
