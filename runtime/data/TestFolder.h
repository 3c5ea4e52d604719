//===- TestFolder.h - files for tests of readers --------------------------===//
#ifndef DYN_RUNTIME_DATA_TESTFOLDER_H
#define DYN_RUNTIME_DATA_TESTFOLDER_H

#include "runtime/data/Reader.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace dyn::data {

/// A test with a folder of its own.
class FolderTest : public testing::Test {
protected:
  std::filesystem::path folder;

  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "dyn-data-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string put(const std::string &name, const std::string &bytes) {
    std::string path = (folder / name).string();
    std::filesystem::remove(path); // truncating would make some file systems wait for the disk
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  /// All rows, in chunks of three as a run reads them.
  static Expected<std::vector<double>> readAll(const std::string &format, const std::string &path,
                                               const std::string &member = "") {
    ReadOptions options{false, member};
    Expected<Extent> extent = inspect(format, path, options);
    if (!extent)
      return extent.status();
    Expected<std::unique_ptr<Reader>> reader = open(format, path, options);
    if (!reader)
      return reader.status();
    int64_t width = extent->width();
    std::vector<double> values(static_cast<size_t>(extent->rows * width));
    for (int64_t lo = 0; lo < extent->rows; lo += 3) {
      Status status = (*reader)->read(lo, std::min<int64_t>(lo + 3, extent->rows), values.data() + lo * width);
      if (!status.isOk())
        return status;
    }
    return values;
  }

  /// The message of opening and reading all, without the folder's name.
  std::string complaint(const std::string &format, const std::string &path, const std::string &member = "") {
    return withoutFolder(readAll(format, path, member).status().message());
  }

  std::string withoutFolder(std::string message) const {
    for (size_t at; (at = message.find(folder.string() + "/")) != std::string::npos;)
      message.erase(at, folder.string().size() + 1);
    return message;
  }

  /// `seed` with some bytes changed, left out, repeated, or its end cut.
  static std::string damage(std::string bytes, std::mt19937 &generator) {
    for (unsigned edits = 1 + generator() % 4; edits-- > 0 && !bytes.empty();) {
      size_t at = generator() % bytes.size();
      switch (generator() % 4) {
      case 0:
        bytes[at] = char(generator());
        break;
      case 1:
        bytes.erase(at, generator() % 8);
        break;
      case 2:
        bytes.resize(at);
        break;
      default:
        bytes.insert(at, bytes.substr(generator() % bytes.size(), generator() % 8));
      }
    }
    return bytes;
  }
};

/// An .npy file of version 1 with this header and these bytes.
inline std::string npy(const std::string &descr, const std::string &shape, const std::string &data,
                       bool isFortran = false) {
  std::string header = "{'descr': " + descr + ", 'fortran_order': " + (isFortran ? "True" : "False") + ", 'shape': " +
                       shape + ", }\n";
  std::string bytes = std::string("\x93NUMPY\x01\x00", 8) + char(header.size() & 255) + char(header.size() >> 8);
  return bytes + header + data;
}

} // namespace dyn::data
#endif // DYN_RUNTIME_DATA_TESTFOLDER_H
