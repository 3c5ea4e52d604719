//===- RoundTrip_test.cpp - Printing and parsing again ----------*- C++ -*-===//

#include "frontend/TestFiles.h"
#include "frontend/parse/Parser.h"

#include <gtest/gtest.h>

using namespace dyn;

static std::unique_ptr<ast::Program> parseText(const std::string &name, const std::string &text) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  auto program = parse(sources.add(name, text), diags);
  EXPECT_TRUE(program) << diags.render();
  return program;
}

static std::string format(const std::string &text) {
  auto program = parseText("t.dyn", text);
  return program ? ast::print(*program) : "";
}

/// Print, parse, print: the same tree, the same comments, the same text.
static void checkRoundTrip(const std::string &name, const std::string &text) {
  auto first = parseText(name, text);
  ASSERT_TRUE(first) << name;
  std::string printed = ast::print(*first);
  auto second = parseText(name + ", printed", printed);
  ASSERT_TRUE(second) << printed;
  EXPECT_EQ(ast::dump(*first), ast::dump(*second)) << name;
  EXPECT_EQ(ast::print(*second), printed) << name;
  ASSERT_EQ(first->comments.size(), second->comments.size()) << name;
  for (size_t i = 0; i < first->comments.size(); ++i)
    EXPECT_EQ(first->comments[i].text, second->comments[i].text) << name;
}

TEST(RoundTrip, EveryFileOfTheRepository) {
  auto files = test::goodFiles();
  ASSERT_GE(files.size(), 53u);
  for (const std::string &path : files)
    checkRoundTrip(path, test::readFile(path));
}

TEST(RoundTrip, NoLineOfCodeIsTooLong) {
  for (const std::string &path : test::dynFiles({"test/specs"})) {
    std::istringstream lines(format(test::readFile(path)));
    for (std::string line; std::getline(lines, line);)
      if (line.find_first_not_of(' ') != line.find('#'))
        EXPECT_LE(codePoints(line.substr(0, line.find("  #"))), 100u) << path << ": " << line;
  }
}

TEST(RoundTrip, CommentsStayWhereTheyAre) {
  const std::string canonical = "# the file\n"
                                "\n"
                                "# doc\n"
                                "fn f(\n"
                                "x: real) -> real {  # after the brace\n"
                                "  # above\n"
                                "  a = x  # right\n"
                                "\n"
                                "  # at the end\n"
                                "}  # behind\n"
                                "# last\n";
  checkRoundTrip("comments", canonical);
  EXPECT_EQ(format(canonical), "# the file\n"
                               "\n"
                               "# doc\n"
                               "fn f(x: real) -> real {  # after the brace\n"
                               "  # above\n"
                               "  a = x  # right\n"
                               "\n"
                               "  # at the end\n"
                               "}  # behind\n"
                               "# last\n");
}

TEST(RoundTrip, CommentsInsideValues) {
  const std::string text = "x = f(a,  # one\n"
                           "      # two\n"
                           "      b,\n"
                           "      c  # three\n"
                           ")\n"
                           "y = a +  # four\n"
                           "    b\n"
                           "z = [  # five\n"
                           "  1\n"
                           "]\n"
                           "fn g(x: real) =  # six\n"
                           "  if x > 0 then 1  # seven\n"
                           "  else 2\n"
                           "w = a.b(c) # eight\n";
  checkRoundTrip("values", text);
  std::string printed = format(text);
  EXPECT_NE(printed.find("x = f(a,  # one\n      # two\n      b, c  # three\n"), std::string::npos) << printed;
  EXPECT_NE(printed.find("y = a +  # four\n    b\n"), std::string::npos) << printed;
}

TEST(RoundTrip, ClausesShareAColumn) {
  EXPECT_EQ(format("train t {\n  data d batch 4\n  optimizer sgd(0.1)\n  param w: [3] = 0\n  steps 10\n}\n"),
            "train t {\n"
            "  data      d batch 4\n"
            "  optimizer sgd(0.1)\n"
            "  param w: [3] = 0\n"
            "  steps     10\n"
            "}\n");
}

TEST(RoundTrip, BlocksOnOneLineStayIfTheyFit) {
  EXPECT_EQ(format("model m(){param w:[n]=1;return w}\n"), "model m() { param w: [n] = 1;  return w }\n");
  std::string name(60, 'a');
  EXPECT_EQ(format("fn f() { " + name + " = 1; return " + name + " }\n"),
            "fn f() {\n  " + name + " = 1\n  return " + name + "\n}\n");
}

TEST(RoundTrip, LongLinesBreak) {
  std::string name(30, 'a');
  EXPECT_EQ(format("x = f(" + name + ", " + name + ", " + name + ", " + name + ")\n"),
            "x = f(" + name + ", " + name + ",\n      " + name + ", " + name + ")\n");
  EXPECT_EQ(format("x = " + name + " + " + name + "*2 + " + name + " + " + name + "\n"),
            "x = " + name + " + " + name + "*2 +\n    " + name + " + " + name + "\n");
}

TEST(RoundTrip, MessagesPrintValuesOnOneLine) {
  auto program = parseText("t.dyn", "x = f(a + 1, b=[1,2])[0:n, :] .T\n");
  auto *constant = ast::cast<ast::ConstantDecl>(program->declarations[0].get());
  EXPECT_EQ(ast::print(*ast::cast<ast::LetStmt>(constant->binding.get())->value), "f(a + 1, b=[1, 2])[0:n, :].T");
}

TEST(RoundTrip, AMemberOfANumberIsNoDecimal) { checkRoundTrip("member", "x = 0 .first\ny = 0 .1\n"); }
