//===- Parser_test.cpp - Trees, messages, limits ----------------*- C++ -*-===//

#include "frontend/TestFiles.h"
#include "frontend/parse/Parser.h"

#include <gtest/gtest.h>

using namespace dyn;
using namespace dyn::ast;

namespace {

/// A parsed text with all that must live as long as its tree.
struct Parsed {
  SourceManager sources;
  DiagnosticEngine diags{sources};
  std::unique_ptr<Program> program;

  explicit Parsed(std::string text, ParseLimits limits = {}) {
    program = parse(sources.add("t.dyn", std::move(text)), diags, limits);
  }
  std::string onlyError() const {
    return diags.all().size() == 1 ? diags.all()[0].text : "not one error:\n" + diags.render();
  }
};

std::string repeat(const std::string &text, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i)
    result += text;
  return result;
}

} // namespace

//===----------------------------------------------------------------------===//
// Trees
//===----------------------------------------------------------------------===//

TEST(Parser, Precedence) {
  Parsed p("x = -a^2 + b*c @ d..n - 1\ny = not a == b and c or d\n");
  ASSERT_TRUE(p.program) << p.diags.render();
  std::string text = dump(*p.program);
  EXPECT_NE(text.find("(RangeExpr (BinaryExpr + (UnaryExpr - (BinaryExpr ^ (NameExpr a) (NumberExpr 2 :int)))"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("(BinaryExpr @ (BinaryExpr * (NameExpr b) (NameExpr c)) (NameExpr d))"), std::string::npos);
  EXPECT_NE(text.find("(BinaryExpr or (BinaryExpr and (UnaryExpr not (BinaryExpr == "), std::string::npos);
}

TEST(Parser, NumbersKeepTextAndValue) {
  Parsed p("x = [1_000, 0x1f, 1e-3, 2.5]\n");
  ASSERT_TRUE(p.program);
  auto *let = cast<LetStmt>(cast<ConstantDecl>(p.program->declarations[0].get())->binding.get());
  auto &elements = cast<ArrayExpr>(let->value.get())->elements;
  auto number = [&](size_t i) { return cast<NumberExpr>(elements[i].get()); };
  EXPECT_EQ(number(0)->integer, 1000u);
  EXPECT_EQ(number(0)->text, "1_000");
  EXPECT_EQ(number(1)->integer, 31u);
  EXPECT_FALSE(number(2)->isInteger);
  EXPECT_EQ(number(2)->value, 1e-3);
  EXPECT_EQ(number(3)->value, 2.5);
}

TEST(Parser, DocsAreTheCommentsRightAbove) {
  Parsed p("# the file\n\n# one\n#   two\nfn f() = 1  # not this\n# three\nfn g() = 2\nfn h() = 3\n");
  ASSERT_TRUE(p.program);
  auto &list = p.program->declarations;
  EXPECT_EQ(list[0]->doc, "one\n  two");
  EXPECT_EQ(list[1]->doc, "three");
  EXPECT_EQ(list[2]->doc, "");
}

TEST(Parser, SpansCoverWhatIsWritten) {
  std::string text = "# é\nfn f(x: real) -> real = g(x)[0] + 1\n";
  Parsed p(text);
  ASSERT_TRUE(p.program);
  const SourceFile &file = *p.sources.file(p.program->file);
  auto *fn = cast<FnDecl>(p.program->declarations[0].get());
  EXPECT_EQ(file.text(fn->body.value->span), "g(x)[0] + 1");
  EXPECT_EQ(file.text(cast<BinaryExpr>(fn->body.value.get())->lhs->span), "g(x)[0]");
  EXPECT_EQ(file.text(fn->parameters.span), "(x: real)");
}

TEST(Parser, ReservedWordsOnlyAreReserved) {
  Parsed p("data = 1\nmodel = data + loss.step\nfn f(batch: [n], on = 2) = batch*on\n");
  EXPECT_TRUE(p.program) << p.diags.render();
}

TEST(Parser, StringEscapes) {
  Parsed p("x = \"a\\\"b\\n\"\n");
  ASSERT_TRUE(p.program);
  auto *let = cast<LetStmt>(cast<ConstantDecl>(p.program->declarations[0].get())->binding.get());
  EXPECT_EQ(cast<StringExpr>(let->value.get())->value, "a\"b\n");
  EXPECT_EQ(Parsed("x = \"a\\q\"\n").onlyError(), "a string knows no escape `\\q`");
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// In test/grammar/reject/ each line that is wrong carries  # error: E0002 "text" , or the line above it
/// # error below: E0002 "text" . Nothing else may be said.
TEST(Parser, RejectsWithTheExpectedMessages) {
  auto files = test::dynFiles({"test/grammar/reject"});
  ASSERT_FALSE(files.empty());
  for (const std::string &path : files) {
    Parsed p(test::readFile(path));
    EXPECT_FALSE(p.program) << path;
    const SourceFile &file = *p.sources.file(1);
    std::vector<std::string> expected, found;
    for (uint32_t number = 1; number <= file.lineCount(); ++number) {
      std::string line(file.line(number));
      if (size_t mark = line.find("# error: "); mark != std::string::npos)
        expected.push_back(std::to_string(number) + ": " + line.substr(mark + 9));
      if (size_t mark = line.find("# error below: "); mark != std::string::npos)
        expected.push_back(std::to_string(number + 1) + ": " + line.substr(mark + 15));
    }
    for (const Diagnostic &diagnostic : p.diags.all())
      found.push_back(std::to_string(file.lineColumn(diagnostic.span.begin).line) + ": " +
                      std::string(diagnostic.code()) + " \"" + diagnostic.text + "\"");
    EXPECT_EQ(found, expected) << path;
  }
}

TEST(Parser, HelpsMendTheMistake) {
  EXPECT_EQ(Parsed("x = if a < b < c then 1 else 2\n").diags.all().at(0).help,
            "comparisons do not chain; join two with `and`");
  EXPECT_EQ(Parsed("train t { data d batch 4 shufle }\n").diags.all().at(0).help, "write `shuffle`");
  EXPECT_EQ(Parsed("x = a & b\n").diags.all().at(0).help, "the word is `and`");
}

TEST(Parser, SaysWhatNoEditorShows) {
  EXPECT_EQ(Parsed(std::string("x = 1\0\n", 7)).onlyError(), "the character U+0000 has no meaning here");
  EXPECT_EQ(Parsed("x = \"\xff\"\n").onlyError(), "the file is not valid UTF-8 here");
  EXPECT_EQ(Parsed("x = 1\ry = 2\n").onlyError(), "the character U+000D has no meaning here");
  EXPECT_TRUE(Parsed("x = 1\r\ny = 2\t# c\r\n").program);
  EXPECT_TRUE(Parsed("\xEF\xBB\xBF# c\nx = 1").program) << "a byte order mark, no last line end";
  EXPECT_TRUE(Parsed("").program);
  EXPECT_TRUE(Parsed("\n;;\n# only\n").program);
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

TEST(Parser, RefusesDepthWithoutOverflow) {
  const std::string deep = "this is nested deeper than 128 levels";
  constexpr size_t n = 100'000;
  EXPECT_EQ(Parsed("x = " + repeat("(", n) + "1" + repeat(")", n)).onlyError(), deep);
  EXPECT_EQ(Parsed("x = " + repeat("[", n)).onlyError(), deep);
  EXPECT_EQ(Parsed("x = " + repeat("- ", n) + "1").onlyError(), deep);
  EXPECT_EQ(Parsed("x = " + repeat("not ", n) + "a").onlyError(), deep);
  EXPECT_EQ(Parsed("x = " + repeat("a -> ", n) + "a").onlyError(), deep);
  EXPECT_EQ(Parsed("x = " + repeat("2^", n) + "2").onlyError(), deep);
  EXPECT_EQ(Parsed("x = " + repeat("if a then b else ", n) + "c").onlyError(), deep);
  EXPECT_EQ(Parsed("experiment e " + repeat("{ if a ", n)).onlyError(), deep);
  EXPECT_EQ(Parsed("experiment e { " + repeat("if a {} else ", n) + "{}\n}").onlyError(), deep);
  EXPECT_EQ(Parsed("fn f(x: " + repeat("fn() -> ", n) + "real) = 1").onlyError(), deep);
}

TEST(Parser, RefusesEndlessChains) {
  const std::string endless = "this expression chains more than 1000 operations";
  constexpr size_t n = 100'000;
  EXPECT_EQ(Parsed("x = a" + repeat(" + a", n)).onlyError(), endless);
  EXPECT_EQ(Parsed("x = a" + repeat(".b", n)).onlyError(), endless);
  EXPECT_EQ(Parsed("x = a" + repeat("(1)", n)).onlyError(), endless);
  EXPECT_EQ(Parsed("x = a" + repeat(" and a", n)).onlyError(), endless);
}

/// What the limits let through must survive building, printing, dumping and destruction.
TEST(Parser, HandlesWhatTheLimitsAllow) {
  for (std::string text : {"x = " + repeat("(", 127) + "1" + repeat(")", 127), "x = a" + repeat(" + a", 999),
                           "x = a" + repeat(".b", 999), "x = a" + repeat("[0]", 999), "x = a" + repeat(" and a", 999),
                           "x = " + repeat("- ", 127) + "1", "x = [" + repeat("1, ", 20'000) + "1]",
                           "x = " + repeat("(" + repeat("a + ", 6), 126) + "a" + repeat(")", 126)}) {
    Parsed p(text);
    ASSERT_TRUE(p.program) << p.diags.render();
    EXPECT_FALSE(dump(*p.program).empty());
    EXPECT_TRUE(Parsed(print(*p.program)).program);
  }
}

TEST(Parser, RefusesLargeFiles) {
  ParseLimits limits;
  limits.bytes = 10;
  EXPECT_EQ(Parsed("x = 1_000_000\n", limits).onlyError(), "the file has 14 bytes; at most 10 are read");
}

TEST(Parser, ShowsALimitedNumberOfErrors) {
  Parsed p(repeat("fn f( = 1\n", 500));
  EXPECT_LE(p.diags.all().size(), 120u);
  EXPECT_FALSE(p.program);
}
