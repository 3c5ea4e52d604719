//===- TestFiles.h - The Dyn files of this repository -----------*- C++ -*-===//
//
// For tests, which run in the source folder.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "frontend/Diagnostics.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace dyn::test {

inline std::string readFile(const std::filesystem::path &path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// The .dyn files below the folders, sorted; folders that do not exist count as empty.
inline std::vector<std::string> dynFiles(const std::vector<std::string> &folders) {
  std::vector<std::string> files;
  for (const std::string &folder : folders) {
    std::error_code error;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(folder, error))
      if (entry.path().extension() == ".dyn")
        files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Every program of the repository that must parse.
inline std::vector<std::string> goodFiles() {
  return dynFiles({"test/specs", "test/grammar/accept", "stdlib", "examples"});
}

} // namespace dyn::test
