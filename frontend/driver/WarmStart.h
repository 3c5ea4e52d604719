//===- WarmStart.h - a train that ran before needs no compiler --*- C++ -*-===//
//
// The first level of the cache. The second (compileNd) knows a program by its nd text, which has to be made first;
// this one knows a train by the spec's text and the options of the run, and its entry says which other files it was
// made from. When none of them changed, plan and object are all that a run needs: no parser, no MLIR.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/driver/Compile.h"

#include <map>

namespace dyn {

struct RunOptions;

class WarmStart {
public:
  /// Reads the spec; the key holds its text and every option that changes what is compiled.
  WarmStart(ObjectCache &cache, const RunOptions &options, const Target &target);

  /// The program of an earlier run, if it was made from what the files hold now.
  std::optional<Program> load();
  /// Keeps the program of the only train that these options run. `files`: paths and texts of the spec and of those it
  /// uses, as they were parsed.
  void store(const Program &program, const std::vector<std::pair<std::string, std::string>> &files);
  /// Paths and texts that a loaded program was made from.
  const std::map<std::string, std::string> &files() const { return texts; }
  /// False when the train certainly claims nothing.
  bool mayExpect() const { return text && text->find("expect") != std::string::npos; }

private:
  bool isCurrent(const std::string &made);
  ObjectCache &cache;
  std::string path;
  std::optional<std::string> text; ///< of the spec; none: it cannot be read
  CacheKey key;
  std::map<std::string, std::string> texts;
};

} // namespace dyn
