#include "runtime/data/Npz.h"

#include "runtime/data/TestFolder.h"

#include <zip.h>

using namespace dyn;
using namespace dyn::data;

namespace {

using Values = std::vector<double>;

class NpzTest : public FolderTest {
protected:
  /// An archive as `numpy.savez` (stored) or `numpy.savez_compressed` writes it.
  std::string archive(const std::string &name, const std::vector<std::pair<std::string, std::string>> &members,
                      bool pack) {
    std::string path = (folder / name).string();
    std::filesystem::remove(path);
    zip_t *file = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    for (auto &[member, bytes] : members) {
      zip_int64_t index = zip_file_add(file, member.c_str(), zip_source_buffer(file, bytes.data(), bytes.size(), 0), 0);
      zip_set_file_compression(file, zip_uint64_t(index), pack ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
    }
    zip_close(file);
    return path;
  }

  static std::string contents(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  std::vector<std::pair<std::string, std::string>> members = {
      {"x.npy", npy("'|u1'", "(4, 2)", "abcdefgh")},
      {"notes.txt", "no array"},
      {"y.npy", npy("'|i1'", "(4,)", "\x01\x02\x03\xff")},
  };
};

TEST_F(NpzTest, membersByNameStoredAndPacked) {
  for (bool pack : {false, true}) {
    std::string path = archive("d.npz", members, pack);
    Expected<std::vector<std::string>> names = npzMembers(path);
    ASSERT_TRUE(names) << names.status().message();
    EXPECT_EQ(*names, (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(*readAll("npz", path, "x"), (Values{97, 98, 99, 100, 101, 102, 103, 104}));
    EXPECT_EQ(*readAll("npz", path, "y"), (Values{1, 2, 3, -1}));
    Expected<std::unique_ptr<Reader>> reader = open("npz", path, {false, "x"});
    double row[2];
    ASSERT_TRUE((*reader)->read(3, 4, row).isOk());
    EXPECT_EQ(row[0], 103);
    ASSERT_TRUE((*reader)->read(1, 2, row).isOk()); // back: unpacked again
    EXPECT_EQ(row[1], 100);
    EXPECT_EQ((*reader)->place(2), "`" + path + "`, member `x`, row 2");
  }
}

TEST_F(NpzTest, complaintsNameFileAndMember) {
  std::string path = archive("d.npz", members, true);
  EXPECT_EQ(complaint("npz", path, "z"), "`d.npz` has no array `z`; it has `x`, `y`");
  std::string other = archive("o.npz", {{"names.npy", npy("'|O'", "(2,)", "12345678")}}, false);
  EXPECT_EQ(complaint("npz", other, "names"), "`o.npz`, member `names`: its type `|O` is of Python objects, which only "
                                              "Python can read; save an array of numbers");
  std::string few = archive("f.npz", {{"x.npy", npy("'|u1'", "(4, 2)", "abcde")}}, false);
  EXPECT_EQ(complaint("npz", few, "x"), "`f.npz`, member `x`: the header promises 4 rows, more than the file can hold; "
                                        "save or fetch it again");
  std::string none = archive("n.npz", {{"notes.txt", "no array"}}, false);
  EXPECT_EQ(withoutFolder(npzMembers(none).status().message()), "`n.npz` holds no arrays; `numpy.savez` writes them");
  EXPECT_EQ(withoutFolder(npzMembers(put("t.npz", "1,2\n3,4\n")).status().message()),
            "`t.npz`: does not open as an .npz file, a zip archive (Not a zip archive); save or fetch it again");
  EXPECT_EQ(withoutFolder(npzMembers((folder / "gone.npz").string()).status().message()),
            "cannot read `gone.npz`: No such file or directory; paths are relative to the spec's folder");
}

// A flipped bit in the values of a stored member changes numbers that look fine; the archive's sum finds it.
TEST_F(NpzTest, aFlippedBitIsFound) {
  std::string bytes = contents(archive("d.npz", members, false));
  size_t at = bytes.find("abcdefgh");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 5] ^= 1;
  std::string message = complaint("npz", put("d.npz", bytes), "x");
  EXPECT_EQ(message, "`d.npz`, member `x`: is damaged (CRC error); save or fetch it again");
}

TEST_F(NpzTest, damagedArchivesAreReadOrRefused) {
  std::mt19937 generator(13);
  std::string seeds[] = {contents(archive("s.npz", members, false)), contents(archive("p.npz", members, true))};
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string path = put("m.npz", damage(seeds[i % 2], generator));
    Expected<Values> values = readAll("npz", path, "x");
    if (values) {
      // Damage that is not to this member.
      ASSERT_EQ(*values, (Values{97, 98, 99, 100, 101, 102, 103, 104}));
      continue;
    }
    ++refused;
    ASSERT_NE(values.status().message().find(path), std::string::npos) << values.status().message();
  }
  EXPECT_GT(refused, 500);
  EXPECT_LT(refused, 2000);
}

} // namespace
