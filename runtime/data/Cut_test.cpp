// Every format cut at every byte: what a broken download or a full disk leaves. A format that knows its length refuses
// each cut by name; a csv, which does not, gives the rows that are there.
#include "runtime/data/TestFolder.h"

#include <cstring>
#include <zip.h>
#include <zlib.h>

using namespace dyn;
using namespace dyn::data;

namespace {

using Values = std::vector<double>;

std::string contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

class CutTest : public FolderTest {
protected:
  std::string packed(const std::string &bytes) {
    std::string path = (folder / "whole.gz").string();
    gzFile file = gzopen(path.c_str(), "wb9");
    gzwrite(file, bytes.data(), unsigned(bytes.size()));
    gzclose(file);
    return contents(path);
  }

  std::string archive(const std::string &member, const std::string &bytes) {
    std::string path = (folder / "whole.npz").string();
    zip_t *file = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    zip_file_add(file, member.c_str(), zip_source_buffer(file, bytes.data(), bytes.size(), 0), 0);
    zip_close(file);
    return contents(path);
  }

  /// The whole is read; each shorter file is refused with its name and more than that.
  void expectEachCutRefused(const std::string &format, const std::string &whole, const Values &values,
                            const std::string &member = "") {
    Expected<Values> all = readAll(format, put("whole", whole), member);
    ASSERT_TRUE(all) << all.status().message();
    EXPECT_EQ(*all, values);
    for (size_t length = 0; length < whole.size(); ++length) {
      std::string path = put("cut", whole.substr(0, length));
      Expected<Values> some = readAll(format, path, member);
      ASSERT_FALSE(some) << format << " cut at byte " << length << " is read";
      std::string message = some.status().message();
      EXPECT_NE(message.find("`" + path + "`"), std::string::npos) << message;
      EXPECT_GT(message.size(), path.size() + 10) << message;
    }
  }
};

std::string idx(std::vector<uint32_t> sizes, const std::string &data) {
  std::string bytes = {0, 0, 8, char(sizes.size())};
  for (uint32_t size : sizes)
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes += char(size >> shift);
  return bytes + data;
}

const std::string letters = "abcdefghijkl";
const Values codes = {97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108};

TEST_F(CutTest, idx) { expectEachCutRefused("idx", idx({3, 2, 2}, letters), codes); }
TEST_F(CutTest, idxPacked) { expectEachCutRefused("idx", packed(idx({3, 2, 2}, letters)), codes); }
TEST_F(CutTest, npy) { expectEachCutRefused("npy", npy("'|u1'", "(3, 4)", letters), codes); }
TEST_F(CutTest, npyPacked) { expectEachCutRefused("npy", packed(npy("'|u1'", "(3, 4)", letters)), codes); }
TEST_F(CutTest, npz) {
  expectEachCutRefused("npz", archive("x.npy", npy("'|u1'", "(3, 4)", letters)), codes, "x");
}

// A text's rows are its bytes, however many there are; packed, it has an end.
TEST_F(CutTest, textIsShorter) {
  for (size_t length = 1; length <= letters.size(); ++length)
    EXPECT_EQ(*readAll("text", put("t", letters.substr(0, length))), Values(codes.begin(), codes.begin() + length));
  EXPECT_EQ(complaint("text", put("t", "")), "`t` is empty");
}
TEST_F(CutTest, textPacked) {
  std::string whole = packed(letters);
  // One byte is a text of one byte.
  for (size_t length = 2; length < whole.size(); ++length) {
    std::string path = put("t.gz", whole.substr(0, length));
    ASSERT_FALSE(readAll("text", path)) << "cut at byte " << length << " is read";
    EXPECT_NE(complaint("text", path).find("`t.gz`"), std::string::npos);
  }
}

/// Rows of the whole lines among the first `length` bytes.
size_t wholeLines(const std::string &text, size_t length) {
  return size_t(std::count(text.begin(), text.begin() + std::ptrdiff_t(length), '\n'));
}

TEST_F(CutTest, csvGivesTheRowsThatAreThere) {
  const std::string whole = "1,2.5,-30\n40,5e1,6\n7,8,9.125\n";
  const Values values = {1, 2.5, -30, 40, 50, 6, 7, 8, 9.125};
  int refused = 0, shorter = 0;
  for (size_t length = 1; length <= whole.size(); ++length) {
    std::string path = put("c.csv", whole.substr(0, length));
    Expected<Values> some = readAll("csv", path);
    size_t lines = wholeLines(whole, length);
    if (!some) {
      ++refused;
      std::string message = complaint("csv", path);
      std::string place = "`c.csv`, line " + std::to_string(lines + 1);
      EXPECT_EQ(message.substr(0, place.size()), place) << message;
      continue;
    }
    ++shorter;
    // A first line that is cut has fewer columns; later ones must have as many.
    if (lines == 0)
      continue;
    ASSERT_GE(some->size(), 3 * lines);
    EXPECT_LE(some->size(), 3 * (lines + 1));
    for (size_t i = 0; i < 3 * lines; ++i)
      EXPECT_EQ((*some)[i], values[i]) << "cut at byte " << length;
  }
  EXPECT_GT(refused, 5);
  EXPECT_GT(shorter, 5);
}

// Packed, it has an end, and what is left after a cut is no csv.
TEST_F(CutTest, csvPacked) {
  std::string whole = packed("1,2\n3,4\n5,6\n");
  for (size_t length = 0; length < whole.size(); ++length) {
    std::string path = put("c.csv.gz", whole.substr(0, length));
    ASSERT_FALSE(readAll("csv", path)) << "cut at byte " << length << " is read";
    EXPECT_NE(complaint("csv", path).find("`c.csv.gz`"), std::string::npos);
  }
}

} // namespace
