#include "runtime/data/Npy.h"

#include "runtime/data/TestFolder.h"

#include <cmath>
#include <zlib.h>

using namespace dyn;
using namespace dyn::data;

namespace {

using NpyTest = FolderTest;
using Values = std::vector<double>;

std::string bytesOf(std::initializer_list<int> bytes) {
  std::string text;
  for (int byte : bytes)
    text += char(byte);
  return text;
}

TEST_F(NpyTest, everyTypeInBothOrders) {
  struct Sample {
    const char *descr;
    std::string data;
    Values values;
  };
  const Sample samples[] = {
      {"'|b1'", bytesOf({0, 1}), {0, 1}},
      {"'|i1'", bytesOf({0x80, 0x7f}), {-128, 127}},
      {"'|u1'", bytesOf({0x80, 0x7f}), {128, 127}},
      {"'<i2'", bytesOf({0xfe, 0xff, 3, 1}), {-2, 259}},
      {"'>i2'", bytesOf({0xff, 0xfe, 1, 3}), {-2, 259}},
      {"'<u2'", bytesOf({0xfe, 0xff, 3, 0}), {65534, 3}},
      {"'>i4'", bytesOf({0xff, 0xff, 0xff, 0xf0, 0, 0, 1, 0}), {-16, 256}},
      {"'<u4'", bytesOf({0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0}), {4294967295.0, 1}},
      {"'<i8'", bytesOf({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0x20, 0}), {-1, 9007199254740992.0}},
      {"'>u8'", bytesOf({0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 1, 0}), {5, 256}},
      {"'<f2'", bytesOf({0x00, 0x3e, 0x01, 0x80}), {1.5, -std::ldexp(1, -24)}}, // the least half below 0
      {"'>f2'", bytesOf({0x7b, 0xff, 0xfc, 0x00}), {65504, -INFINITY}},
      {"'<f4'", bytesOf({0, 0, 0xc0, 0x3f, 0, 0, 0x20, 0xc1}), {1.5, -10}},
      {"'>f4'", bytesOf({0x3f, 0xc0, 0, 0, 0xc1, 0x20, 0, 0}), {1.5, -10}},
      {"'=f8'", bytesOf({0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0, 0, 0, 0, 0, 0, 0xf0, 0xff}), {1.5, -INFINITY}},
      {"'>f8'", bytesOf({0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), {1.5, 0}},
  };
  for (const Sample &sample : samples) {
    Expected<Values> values = readAll("npy", put("x.npy", npy(sample.descr, "(2,)", sample.data)));
    ASSERT_TRUE(values) << sample.descr << ": " << values.status().message();
    EXPECT_EQ(*values, sample.values) << sample.descr;
  }
}

TEST_F(NpyTest, typesAndShapesAreThoseOfTheFile) {
  Expected<Extent> extent = inspect("npy", put("x.npy", npy("'<f4'", "(2, 1, 3)", std::string(24, '\0'))));
  ASSERT_TRUE(extent) << extent.status().message();
  EXPECT_EQ(extent->rows, 2);
  EXPECT_EQ(extent->shape, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(extent->content, Content::real);
  EXPECT_EQ(inspect("npy", put("b.npy", npy("'|b1'", "(2,)", "ab")))->content, Content::truth);
  EXPECT_EQ(inspect("npy", put("i.npy", npy("'|u1'", "(2,)", "ab")))->content, Content::whole);
}

// Element (i, j, k) is 100 i + 10 j + k; the first index runs fastest in the file.
TEST_F(NpyTest, fortranOrderGivesTheSameRows) {
  std::string data;
  Values rows;
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 4; ++i)
        data += bytesOf({(100 * i + 10 * j + k) & 255, (100 * i + 10 * j + k) >> 8});
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 2; ++k)
        rows.push_back(100 * i + 10 * j + k);
  Expected<Values> values = readAll("npy", put("f.npy", npy("'<i2'", "(4, 3, 2)", data, true)));
  ASSERT_TRUE(values) << values.status().message();
  EXPECT_EQ(*values, rows);
  EXPECT_EQ(complaint("npy", put("g.npy", npy("'<i2'", "(4, 3, 2)", data.substr(0, 40), true))),
            "`g.npy`: the header promises 4 rows, more than the file can hold; save or fetch it again");
}

TEST_F(NpyTest, versionsAndForwardsAndBack) {
  std::string one = npy("\"<i2\"", "(3L,)", "");
  EXPECT_NE(complaint("npy", put("l.npy", one)).find("is not as numpy writes one"), std::string::npos);
  std::string two = npy("'<i2'", "(3,)", bytesOf({1, 0, 2, 0, 3, 0}));
  two[6] = 2;
  two.insert(10, 2, '\0');
  std::string path = put("two.npy", two);
  Expected<std::unique_ptr<Reader>> reader = open("npy", path);
  ASSERT_TRUE(reader) << reader.status().message();
  double value = 0;
  ASSERT_TRUE((*reader)->read(2, 3, &value).isOk());
  EXPECT_EQ(value, 3);
  ASSERT_TRUE((*reader)->read(0, 1, &value).isOk());
  EXPECT_EQ(value, 1);
  EXPECT_EQ((*reader)->place(1), "`" + path + "`, row 1");
}

TEST_F(NpyTest, complaintsNameWhatIsWrong) {
  EXPECT_EQ(complaint("npy", put("a", "1,2,3\n4,5,6\n")), "`a`: does not start like an .npy file; is it another format?");
  EXPECT_EQ(complaint("npy", put("b", npy("'|O'", "(2,)", "12345678"))),
            "`b`: its type `|O` is of Python objects, which only Python can read; save an array of numbers");
  EXPECT_EQ(complaint("npy", put("c", npy("'<U3'", "(1,)", std::string(12, 'x')))),
            "`c`: its type `<U3` is of text; save numbers, for example the index of each word");
  EXPECT_EQ(complaint("npy", put("d", npy("'<c8'", "(1,)", std::string(8, 'x')))),
            "`d`: its type `<c8` is of complex numbers; save real and imaginary part");
  EXPECT_EQ(complaint("npy", put("e", npy("[('x', '<f4'), ('y', '<f4')]", "(1,)", std::string(8, 'x')))),
            "`e`: its type `[('x', '<f4'), ('y', '<f4')]` is of records of several types; save each column as an array "
            "of its own");
  EXPECT_EQ(complaint("npy", put("f", npy("'<f16'", "(1,)", std::string(16, 'x')))),
            "`f`: its type `<f16` is not read; there are bool, int8 to int64, uint8 to uint64, float16, float32 and float64");
  EXPECT_EQ(complaint("npy", put("g", npy("'<f4'", "()", "1234"))), "`g`: holds one number, expected rows");
  EXPECT_EQ(complaint("npy", put("h", npy("'<f4'", "(0, 3)", ""))), "`h`: a dimension has size 0");
  EXPECT_EQ(complaint("npy", put("i", npy("'<f4'", "(99999999999, 99999999999)", "1234"))),
            "`i`: the header promises 99999999999 rows, more than the file can hold; save or fetch it again");
  EXPECT_EQ(complaint("npy", put("j", npy("'<f4'", "(1,)", "1234").substr(0, 30))), "`j`: ends inside its header");
  EXPECT_EQ(complaint("npy", put("k", npy("'<i8'", "(1, 2)", std::string(8, '\0') + bytesOf({1, 0, 0, 0, 0, 0, 0x20, 0})))),
            "`k`: row 0, number 1: 9007199254740993 is beyond 2^53, where whole numbers stop being exact; save smaller "
            "numbers");
  std::string future = npy("'<f4'", "(1,)", "1234");
  future[6] = 9;
  EXPECT_EQ(complaint("npy", put("l", future)), "`l`: is of version 9 of the format; 1 to 3 are read");
}

// What a compressed file holds is known only when it is read: the cut is named by row and byte.
TEST_F(NpyTest, aShortCompressedFileNamesRowAndByte) {
  std::string bytes = npy("'<f4'", "(3, 2)", std::string(20, '\0')), path = (folder / "z.npy.gz").string();
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), unsigned(bytes.size()));
  gzclose(file);
  EXPECT_EQ(complaint("npy", path),
            "`z.npy.gz`: ends inside row 2 of 3, at byte " + std::to_string(bytes.size()) + "; save or fetch it again");
}

TEST_F(NpyTest, damagedFilesAreReadOrRefused) {
  std::mt19937 generator(11);
  std::string seeds[] = {npy("'<f4'", "(4, 3)", std::string(48, 'a')), npy("'>i2'", "(4, 3)", std::string(24, 'b'), true)};
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string path = put("m", damage(seeds[i % 2], generator));
    Expected<Values> values = readAll("npy", path);
    if (values)
      continue;
    ++refused;
    ASSERT_NE(values.status().message().find(path), std::string::npos) << values.status().message();
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 2000);
}

} // namespace
