//===- Source_test.cpp - Lines, columns, UTF-8 ------------------*- C++ -*-===//

#include "frontend/Source.h"

#include <gtest/gtest.h>

using namespace dyn;

TEST(Source, CountsLinesAndColumnsFromOne) {
  SourceManager sources;
  const SourceFile &file = sources.add("a.dyn", "ab\ncd\r\n\ne");
  EXPECT_EQ(file.lineCount(), 4u);
  EXPECT_EQ(file.line(2), "cd");
  EXPECT_EQ(file.line(3), "");
  EXPECT_EQ(file.line(9), "");
  EXPECT_EQ(file.lineColumn(0).line, 1u);
  EXPECT_EQ(file.lineColumn(4).line, 2u);
  EXPECT_EQ(file.lineColumn(4).column, 2u);
  EXPECT_EQ(file.lineColumn(1000).line, 4u);
}

TEST(Source, ColumnsCountCodePoints) {
  SourceManager sources;
  const SourceFile &file = sources.add("a.dyn", "# é€😀 x");
  EXPECT_EQ(file.lineColumn(static_cast<uint32_t>(file.text().find('x'))).column, 7u);
}

TEST(Source, FindsInvalidUtf8) {
  EXPECT_FALSE(findInvalidUtf8("plain é€😀"));
  EXPECT_EQ(findInvalidUtf8("ab\xff"), 2u);
  EXPECT_EQ(findInvalidUtf8("\xc0\x80"), 0u) << "overlong";
  EXPECT_EQ(findInvalidUtf8("\xed\xa0\x80"), 0u) << "surrogate";
  EXPECT_EQ(findInvalidUtf8("\xf5\x80\x80\x80"), 0u) << "beyond Unicode";
  EXPECT_EQ(findInvalidUtf8("a\xe2\x82"), 1u) << "cut off";
  EXPECT_EQ(codePoints("\xff\xff"), 2u);
}

TEST(Source, SpansOfDifferentFilesDoNotMix) {
  EXPECT_EQ(Span::cover({1, 4, 6}, {1, 1, 5}), (Span{1, 1, 6}));
  EXPECT_EQ(Span::cover({1, 4, 6}, {2, 1, 5}), (Span{1, 4, 6}));
  EXPECT_EQ(Span::cover({}, {2, 1, 5}), (Span{2, 1, 5}));
}

TEST(Source, SaysWhyAFileCannotBeRead) {
  SourceManager sources;
  std::string error;
  EXPECT_EQ(sources.load("test/no/such.dyn", error), nullptr);
  EXPECT_EQ(error, "No such file or directory");
  EXPECT_EQ(sources.load("test", error), nullptr);
  EXPECT_EQ(error, "it is a folder");
  EXPECT_EQ(sources.file(7), nullptr);
}
