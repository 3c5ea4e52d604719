#include "runtime/data/Text.h"

#include "runtime/data/TestFolder.h"

#include <zlib.h>

using namespace dyn;
using namespace dyn::data;

namespace {

class TextTest : public FolderTest {
protected:
  std::string pack(const std::string &name, const std::string &bytes) {
    std::string path = (folder / name).string();
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, bytes.data(), unsigned(bytes.size()));
    gzclose(file);
    return path;
  }
};

TEST_F(TextTest, rowsAreBytesPlainAndPacked) {
  std::string text = "In \xc3\xa4 word\r\n\xff"; // as stored: neither UTF-8 nor line ends are looked at
  for (const std::string &path : {put("t.txt", text), pack("t.txt.gz", text)}) {
    Expected<Extent> extent = inspect("text", path);
    ASSERT_TRUE(extent) << extent.status().message();
    EXPECT_EQ(extent->rows, int64_t(text.size()));
    EXPECT_TRUE(extent->shape.empty());
    EXPECT_EQ(extent->content, Content::whole);
    Expected<std::vector<double>> values = readAll("text", path);
    ASSERT_TRUE(values) << values.status().message();
    for (size_t i = 0; i < text.size(); ++i)
      EXPECT_EQ((*values)[i], double(uint8_t(text[i])));
    Expected<std::unique_ptr<Reader>> reader = open("text", path);
    double byte = 0;
    ASSERT_TRUE((*reader)->read(6, 7, &byte).isOk());
    EXPECT_EQ(byte, 'w');
    ASSERT_TRUE((*reader)->read(0, 1, &byte).isOk());
    EXPECT_EQ(byte, 'I');
    EXPECT_EQ((*reader)->place(4), path + ", byte 4");
    EXPECT_EQ(withoutFolder((*reader)->read(int64_t(text.size()), int64_t(text.size()) + 1, &byte).message()),
              withoutFolder("`" + path + "` has " + std::to_string(text.size()) + " bytes, byte " +
                            std::to_string(text.size()) + " was expected; has the file changed?"));
  }
}

TEST_F(TextTest, complaintsNameTheFile) {
  EXPECT_EQ(complaint("text", put("a", "")), "`a` is empty");
  EXPECT_EQ(complaint("text", pack("b.gz", "")), "`b.gz` is empty");
  std::string text;
  for (int i = 0; i < 20000; ++i)
    text += char('a' + i * i % 23);
  std::string path = pack("c.gz", text);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_EQ(complaint("text", path), "`c.gz` ends in the middle of its gzip stream; fetch it again");
}

} // namespace
