//===- Build.h - dync build: executables and C libraries --------*- C++ -*-===//

#pragma once

#include <string>
#include <vector>

namespace dyn {

/// Options of `dync build`.
struct BuildOptions {
  std::string file;
  std::string name;              ///< train; empty: the only one
  std::string output;            ///< empty: the train's name, or lib + the rule's
  std::string cpu = "native";
  std::vector<std::string> sets; ///< NAME=VALUE
  std::string rule;              ///< of a library: 'adamw', 'adamw on [64, 32] [32]'
  std::string precision = "f32"; ///< of a library
  bool shared = false;           ///< a library for the loader
};

/// Makes a program of a train: its code, its plan and the runtime. 0 on success.
int runBuild(const BuildOptions &options);

/// Makes a static (or shared) library and a header of one rule over flat arrays. 0 on success.
int runBuildLibrary(const BuildOptions &options);

} // namespace dyn
