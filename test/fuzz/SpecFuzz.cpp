//===- SpecFuzz.cpp - mutated programs through the whole compiler ---------===//
//
//   spec-fuzz [--seed=N] [--count=C] [--jobs=J]     C mutants of the .dyn files below the present folder
//   spec-fuzz --seed=N --index=K                    prints mutant K and what is said of it
//
// Each mutant is given to `dync check` (in this process, as a user would: the rendered text is judged). None may crash
// or hang; what is refused names a place in the mutant, and never an op or a mistake of the compiler. What is accepted
// and small runs a few steps compiled and by the plain evaluator, which must agree. Mutants run in children, so that
// one that crashes is counted and the others go on.
//
//===----------------------------------------------------------------------===//
#include "Comparison.h"
#include "Mutator.h"

#include "frontend/TestFiles.h"
#include "frontend/driver/Commands.h"

#include "llvm/Support/CommandLine.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dyn;
using namespace dyn::fuzz;
namespace cl = llvm::cl;
namespace fs = std::filesystem;

static cl::opt<uint64_t> seed("seed", cl::desc("which mutants"), cl::init(1));
static cl::opt<uint64_t> count("count", cl::desc("how many"), cl::init(2000));
static cl::opt<int64_t> only("index", cl::desc("one mutant alone"), cl::init(-1));
static cl::opt<unsigned> jobs("jobs", cl::desc("children at a time"), cl::init(2));

namespace {

constexpr uint64_t chunk = 100;       ///< mutants of one child
constexpr rlim_t most = rlim_t(8) << 30; ///< bytes that a child may have
constexpr int64_t checkLimitMs = 20'000, runLimitMs = 10'000;

int64_t now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// What a child tells its parent while it works; shared memory.
struct Progress {
  std::atomic<uint64_t> index;
  std::atomic<int64_t> since;    ///< when the present phase began
  std::atomic<bool> isRunning;   ///< checked, accepted, and being run
  std::atomic<uint64_t> refused, accepted, compared;
};

//===----------------------------------------------------------------------===//
// A copy of the folders, in which mutants lie beside what the originals use
//===----------------------------------------------------------------------===//

class Scratch {
public:
  explicit Scratch(const std::vector<std::string> &files) {
    std::string name = (fs::temp_directory_path() / "spec-fuzz-XXXXXX").string();
    root = ::mkdtemp(name.data()) ? name : "";
    std::set<fs::path> folders;
    for (const std::string &file : files)
      for (fs::path folder = fs::path(file).parent_path(); folders.insert(folder).second && !folder.empty();)
        folder = folder.parent_path();
    for (const fs::path &folder : folders)
      mirror(folder, folders);
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(root, ignored);
  }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  fs::path root;

private:
  /// A folder of links to everything in the original but folders that are mirrored themselves.
  void mirror(const fs::path &folder, const std::set<fs::path> &folders) const {
    fs::create_directories(root / folder);
    for (const auto &entry : fs::directory_iterator(folder.empty() ? "." : folder)) {
      fs::path path = entry.path().lexically_normal();
      if (!folders.count(path) && path.filename().string()[0] != '.')
        fs::create_symlink(fs::absolute(path), root / path);
    }
  }
};

//===----------------------------------------------------------------------===//
// One mutant
//===----------------------------------------------------------------------===//

class Mutants {
public:
  Mutants(std::vector<std::string> files, const fs::path &root) : files(std::move(files)), root(root) {
    for (const std::string &file : this->files)
      texts.push_back(test::readFile(file));
  }

  std::string text(uint64_t index) const {
    return Mutator(seed * 1'000'003 + index).mutate(texts[index % texts.size()]);
  }
  /// Where mutant `index` lies; the name is that of one child.
  std::string path(uint64_t index) const {
    return (root / fs::path(files[index % files.size()]).parent_path() /
            ("mutant-" + std::to_string(::getpid()) + ".dyn"))
        .string();
  }

private:
  std::vector<std::string> files, texts;
  fs::path root;
};

/// What is printed on both streams goes to memory.
class Capture {
public:
  Capture() : memory(::memfd_create("output", 0)) {
    ::dup2(memory, STDOUT_FILENO);
    ::dup2(memory, STDERR_FILENO);
  }
  std::string take() {
    std::fflush(stdout);
    std::cout.flush();
    std::cerr.flush();
    std::string text(static_cast<size_t>(::lseek(memory, 0, SEEK_END)), '\0');
    ssize_t got = ::pread(memory, text.data(), text.size(), 0);
    text.resize(got < 0 ? 0 : static_cast<size_t>(got));
    if (::ftruncate(memory, 0) == 0)
      ::lseek(memory, 0, SEEK_SET);
    return text;
  }

private:
  int memory;
};

/// What is wrong with what was said of a mutant that is refused; empty if nothing is.
std::string judgeRefusal(const std::string &said, const std::string &path, const std::string &text) {
  static const std::regex op(R"(\b(nd|run|kernel|arith|llvm|func|scf|vector|memref|builtin)\.[a-z_]+)");
  int64_t lines = 2 + std::count(text.begin(), text.end(), '\n');
  bool placed = false;
  std::istringstream stream(said);
  for (std::string line; std::getline(stream, line);) {
    // Lines of the program are shown between the messages.
    if (line.find(" | ") != std::string::npos)
      continue;
    std::smatch found;
    if (line.find("mistake of the compiler") != std::string::npos || line.find("internal") != std::string::npos)
      return "a mistake of the compiler: " + line;
    if (text.find("nd.") == std::string::npos && std::regex_search(line, found, op) &&
        text.find(found.str()) == std::string::npos)
      return "an op is named: " + line;
    if (size_t at = line.find(path + ":"); at != std::string::npos) {
      int64_t number = std::atoll(line.c_str() + at + path.size() + 1);
      if (number < 1 || number > lines)
        return "no such line: " + line;
      placed = true;
    }
  }
  return placed ? "" : "no place in the program is named";
}

/// What is wrong with a mutant; empty if nothing is.
std::string examine(const Mutants &mutants, uint64_t index, Capture &capture, Comparison &comparison,
                    Progress &progress) {
  std::string text = mutants.text(index), path = mutants.path(index);
  std::ofstream(path, std::ios::binary) << text;
  int status = runCheck({path});
  std::string said = capture.take();
  if (status != 0) {
    ++progress.refused;
    std::string why = judgeRefusal(said, path, text);
    return why.empty() ? "" : why + "\n" + said;
  }
  ++progress.accepted;
  progress.isRunning = true;
  progress.since = now();
  std::string why = comparison.run(path);
  progress.compared += comparison.compared();
  capture.take();
  return why;
}

//===----------------------------------------------------------------------===//
// Children
//===----------------------------------------------------------------------===//

/// Runs mutants [begin, end) and writes what is wrong to `failures`, a line each.
[[noreturn]] void runChild(const Mutants &mutants, uint64_t begin, uint64_t end, Progress &progress, int failures) {
  // A program that asks for more memory than that is found, and nobody else suffers.
  rlimit memory{most, most};
  ::setrlimit(RLIMIT_AS, &memory);
  Capture capture;
  Comparison comparison;
  for (uint64_t index = begin; index < end; ++index) {
    progress.isRunning = false;
    progress.since = now();
    progress.index = index;
    std::string why = examine(mutants, index, capture, comparison, progress);
    if (!why.empty())
      ::dprintf(failures, "mutant %llu of seed %llu: %s\n", static_cast<unsigned long long>(index),
                static_cast<unsigned long long>(seed), why.c_str());
  }
  std::remove(mutants.path(begin).c_str());
  ::_exit(0);
}

class Parent {
public:
  explicit Parent(const Mutants &mutants)
      : mutants(mutants), failures(::memfd_create("failures", 0)),
        slots(static_cast<Progress *>(::mmap(nullptr, jobs * sizeof(Progress), PROT_READ | PROT_WRITE,
                                             MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}

  int run() {
    for (uint64_t begin = 0; begin < count; begin += chunk)
      waiting.emplace_back(begin, std::min<uint64_t>(begin + chunk, count));
    std::reverse(waiting.begin(), waiting.end());
    for (unsigned slot = 0; slot < jobs; ++slot)
      start(slot);
    while (!children.empty()) {
      ::usleep(2000);
      for (unsigned slot = 0; slot < jobs; ++slot)
        watch(slot);
    }
    return conclude();
  }

private:
  struct Child {
    pid_t pid;
    uint64_t end;
  };

  void start(unsigned slot) {
    if (waiting.empty())
      return;
    auto [begin, end] = waiting.back();
    waiting.pop_back();
    slots[slot].index = begin;
    slots[slot].since = now();
    slots[slot].isRunning = false;
    pid_t pid = ::fork();
    if (pid == 0)
      runChild(mutants, begin, end, slots[slot], failures);
    children[slot] = {pid, end};
  }

  /// A child that ended badly, or that takes too long, leaves its present mutant and goes on with the next.
  void watch(unsigned slot) {
    auto it = children.find(slot);
    if (it == children.end())
      return;
    Progress &progress = slots[slot];
    int status = 0;
    bool isLate = now() - progress.since > (progress.isRunning ? runLimitMs : checkLimitMs);
    if (isLate)
      ::kill(it->second.pid, SIGKILL);
    if (::waitpid(it->second.pid, &status, isLate ? 0 : WNOHANG) == 0)
      return;
    uint64_t index = progress.index, end = it->second.end;
    children.erase(it);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      // A run may be long by what the program says; a check may not.
      if (isLate && progress.isRunning)
        ++slow;
      else
        ::dprintf(failures, "mutant %llu of seed %llu: %s\n", static_cast<unsigned long long>(index),
                  static_cast<unsigned long long>(seed),
                  isLate ? "hangs" : ("crashes with status " + std::to_string(status)).c_str());
      if (index + 1 < end)
        waiting.emplace_back(index + 1, end);
    }
    start(slot);
  }

  int conclude() const {
    uint64_t refused = 0, accepted = 0, compared = 0;
    for (unsigned slot = 0; slot < jobs; ++slot) {
      refused += slots[slot].refused;
      accepted += slots[slot].accepted;
      compared += slots[slot].compared;
    }
    std::string text(static_cast<size_t>(::lseek(failures, 0, SEEK_END)), '\0');
    ssize_t got = ::pread(failures, text.data(), text.size(), 0);
    text.resize(got < 0 ? 0 : static_cast<size_t>(got));
    std::printf("%s%llu mutants: %llu refused, %llu accepted, %llu trains compared, %llu runs cut short, %s\n",
                text.c_str(), static_cast<unsigned long long>(count.getValue()),
                static_cast<unsigned long long>(refused), static_cast<unsigned long long>(accepted),
                static_cast<unsigned long long>(compared), static_cast<unsigned long long>(slow),
                text.empty() ? "none wrong" : "some wrong");
    return !text.empty() || refused + accepted == 0;
  }

  const Mutants &mutants;
  int failures;
  Progress *slots;
  std::vector<std::pair<uint64_t, uint64_t>> waiting;
  std::map<unsigned, Child> children;
  uint64_t slow = 0;
};

/// One mutant in this process, with all that is said.
int runAlone(const Mutants &mutants, uint64_t index) {
  std::string path = mutants.path(index);
  std::ofstream(path, std::ios::binary) << mutants.text(index);
  std::printf("%s\n", mutants.text(index).c_str());
  std::fflush(stdout);
  if (runCheck({path}) != 0)
    return 1;
  std::string why = Comparison().run(path);
  std::printf("%s\n", why.empty() ? "compiled and evaluated runs agree" : why.c_str());
  return why.empty() ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "mutated programs\n");
  std::vector<std::string> files = test::dynFiles({"examples", "stdlib", "test"});
  if (files.empty()) {
    std::fprintf(stderr, "no .dyn files below the present folder\n");
    return 2;
  }
  Scratch scratch(files);
  Mutants mutants(files, scratch.root);
  return only < 0 ? Parent(mutants).run() : runAlone(mutants, uint64_t(only));
}
