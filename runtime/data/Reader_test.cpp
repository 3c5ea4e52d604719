#include "runtime/data/Csv.h"
#include "runtime/data/Idx.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

using namespace dyn;
using namespace dyn::data;

namespace {

class ReaderTest : public testing::Test {
protected:
  std::filesystem::path folder;
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "dyn-reader-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string put(const std::string &name, const std::string &bytes, bool gzip = false) {
    std::string path = (folder / name).string();
    std::filesystem::remove(path); // truncating would make some file systems wait for the disk
    if (gzip) {
      gzFile file = gzopen(path.c_str(), "wb");
      gzwrite(file, bytes.data(), unsigned(bytes.size()));
      gzclose(file);
    } else {
      std::ofstream(path, std::ios::binary) << bytes;
    }
    return path;
  }

  /// Message of opening and reading all; without the folder's name.
  std::string complaint(const std::string &format, const std::string &path, bool header = false) {
    std::string message = readAll(format, path, header).status().message();
    for (size_t at; (at = message.find(folder.string() + "/")) != std::string::npos;)
      message.erase(at, folder.string().size() + 1);
    return message;
  }

  static Expected<std::vector<double>> readAll(const std::string &format, const std::string &path,
                                               bool header = false) {
    Expected<Extent> extent = inspect(format, path, {header, {}});
    if (!extent)
      return extent.status();
    Expected<std::unique_ptr<Reader>> reader = open(format, path, {header, {}});
    if (!reader)
      return reader.status();
    if (extent->rows * extent->width() > 1 << 24)
      return Status::error("large");
    std::vector<double> values(static_cast<size_t>(extent->rows * extent->width()));
    Status status = (*reader)->read(0, extent->rows, values.data());
    if (!status.isOk())
      return status;
    return values;
  }
};

std::string idx(int type, std::vector<uint32_t> sizes, const std::string &data) {
  std::string bytes = {0, 0, char(type), char(sizes.size())};
  for (uint32_t size : sizes)
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes += char(size >> shift);
  return bytes + data;
}

TEST_F(ReaderTest, csvRowsPlainAndPacked) {
  std::string text = "1,2.5,-3e2\r\n +4 ,5,6\n7,8,9\n\n";
  for (bool gzip : {false, true}) {
    std::string path = put(gzip ? "a.csv.gz" : "a.csv", text, gzip);
    Expected<Extent> extent = inspect("csv", path);
    ASSERT_TRUE(extent) << extent.status().message();
    EXPECT_EQ(extent->rows, 3);
    EXPECT_EQ(extent->shape, std::vector<int64_t>{3});
    Expected<std::unique_ptr<Reader>> reader = open("csv", path);
    ASSERT_TRUE(reader);
    double values[6];
    ASSERT_TRUE((*reader)->read(1, 3, values).isOk());
    EXPECT_EQ(values[0], 4);
    EXPECT_EQ(values[5], 9);
    ASSERT_TRUE((*reader)->read(0, 1, values).isOk()); // back again
    EXPECT_EQ(values[2], -300);
    EXPECT_EQ((*reader)->place(1), path + ":2");
  }
}

TEST_F(ReaderTest, csvHeaderOnlyWhenSaid) {
  std::string path = put("h.csv", "a,b\n1,2\n");
  EXPECT_EQ(complaint("csv", path), "`h.csv`, line 1, column 1: `a` is not a number; if the first line names the "
                                    "columns, say so (header) or remove it");
  Expected<std::vector<double>> values = readAll("csv", path, true);
  ASSERT_TRUE(values);
  EXPECT_EQ(*values, (std::vector<double>{1, 2}));
}

TEST_F(ReaderTest, csvComplaintsNameThePlace) {
  EXPECT_EQ(complaint("csv", put("a", "1,2\n3\n")), "`a`, line 2: 1 columns, the first row has 2");
  EXPECT_EQ(complaint("csv", put("b", "1,2\n3,4,5\n")), "`b`, line 2: 3 columns, the first row has 2");
  EXPECT_EQ(complaint("csv", put("c", "1,2\n3,x4\n")), "`c`, line 2, column 2: `x4` is not a number");
  EXPECT_EQ(complaint("csv", put("d", "1,2\n3,\n")),
            "`d`, line 2, column 2: nothing, expected a number; fill the gap or remove the row");
  EXPECT_EQ(complaint("csv", put("e", "1,2\n3,1e999\n")), "`e`, line 2, column 2: `1e999` does not fit in 64 bits");
  EXPECT_EQ(complaint("csv", put("f", "")), "`f` is empty");
  EXPECT_EQ(complaint("csv", put("g", "\n\n")), "`g`, line 1: an empty line");
  EXPECT_EQ(complaint("csv", put("i", "a,b\n"), true), "`i` has no rows");
  EXPECT_EQ(complaint("csv", (folder / "none").string()),
            "cannot read `none`: No such file or directory; paths are relative to the spec's folder");
  std::filesystem::create_directory(folder / "sub");
  EXPECT_EQ(complaint("csv", (folder / "sub").string()), "`sub` is a folder; name a file in it");
  EXPECT_EQ(complaint("yaml", "x"), "there is no reader for `yaml`; there are `csv`, `idx`, `npy`, `npz`, `text`");
  if (geteuid() != 0) {
    std::string closed = put("closed", "1\n");
    chmod(closed.c_str(), 0);
    EXPECT_EQ(complaint("csv", closed), "cannot read `closed`: Permission denied");
  }
}

TEST_F(ReaderTest, truncatedAndDamagedGzip) {
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += std::to_string(i * 7919 % 1000) + "," + std::to_string(i) + "\n";
  std::string path = put("t.csv.gz", text, true);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_EQ(complaint("csv", path), "`t.csv.gz` ends in the middle of its gzip stream; fetch it again");
  std::string damaged = put("d.csv.gz", std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03") + "garbage garbage");
  EXPECT_NE(complaint("csv", damaged).find("is damaged gzip"), std::string::npos) << complaint("csv", damaged);
}

TEST_F(ReaderTest, idxTypesAndShapes) {
  std::string path = put("i", idx(8, {2, 2, 2}, "\x01\x02\x03\x04\xff\x06\x07\x08"), true);
  Expected<Extent> extent = inspect("idx", path);
  ASSERT_TRUE(extent) << extent.status().message();
  EXPECT_EQ(extent->rows, 2);
  EXPECT_EQ(extent->shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(*readAll("idx", path), (std::vector<double>{1, 2, 3, 4, 255, 6, 7, 8}));
  EXPECT_EQ(*readAll("idx", put("s", idx(0x0b, {2}, std::string("\xff\xfe\x00\x03", 4)))), (std::vector<double>{-2, 3}));
  EXPECT_EQ(*readAll("idx", put("f", idx(0x0d, {1}, std::string("\x3f\xc0\x00\x00", 4)))), (std::vector<double>{1.5}));
}

TEST_F(ReaderTest, idxComplaints) {
  EXPECT_EQ(complaint("idx", put("a", "hello world")),
            "`a`: does not start like an idx file (two zero bytes and a type); is it another format?");
  EXPECT_EQ(complaint("idx", put("b", idx(8, {0xffffffff, 0xffffffff, 0xffffffff}, ""))),
            "`b`: the header promises 4294967295 rows, more than its 16 bytes can hold; fetch it again");
  EXPECT_EQ(complaint("idx", put("c", idx(8, {3, 2}, "12345"))),
            "`c`: the header promises 3 rows, more than its 17 bytes can hold; fetch it again");
  EXPECT_EQ(complaint("idx", put("d", idx(8, {3, 2}, "12345"), true)), "`d`: ends inside row 2 of 3; fetch it again");
  EXPECT_EQ(complaint("idx", put("e", std::string("\0\0\x08\x02\0\0", 6))), "`e`: ends inside its header");
  EXPECT_EQ(complaint("idx", put("f", idx(8, {0, 2}, ""))), "`f`: a dimension has size 0");
}

// Five thousand damaged files: each is read or refused with its name; none crashes.
TEST_F(ReaderTest, mutationsAreReadOrRefused) {
  std::mt19937 generator(7);
  std::string csv = "1.5,2,3\n4,-5e3,6\n7,8,9.25\n", image = idx(8, {3, 2, 2}, "abcdefghijkl");
  auto pack = [&](const std::string &bytes) {
    std::ifstream file(put("packed", bytes, true), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string seeds[] = {csv, image, pack(csv), pack(image)};
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string bytes = seeds[i % 4];
    for (unsigned edits = 1 + generator() % 4; edits-- > 0 && !bytes.empty();) {
      size_t at = generator() % bytes.size();
      switch (generator() % 5) {
      case 0:
        bytes[at] = char(generator());
        break;
      case 1:
        bytes[at] = "0,.-\n\r+e\xff\0"[generator() % 10];
        break;
      case 2:
        bytes.erase(at, generator() % 8);
        break;
      case 3:
        bytes.resize(at);
        break;
      default:
        bytes.insert(at, bytes.substr(generator() % bytes.size(), generator() % 8));
      }
    }
    std::string path = put("m", bytes);
    Expected<std::vector<double>> values = readAll(i % 2 ? "idx" : "csv", path, generator() % 8 == 0);
    if (!values) {
      ++refused;
      ASSERT_NE(values.status().message().find(path), std::string::npos) << values.status().message();
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 5000);
}

} // namespace
