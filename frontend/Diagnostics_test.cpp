//===- Diagnostics_test.cpp - Rendering, JSON, near names -------*- C++ -*-===//

#include "frontend/Diagnostics.h"

#include <gtest/gtest.h>
#include <set>

using namespace dyn;

TEST(Diagnostics, RendersPlaceLineCaretNotesChainAndHelp) {
  SourceManager sources;
  const SourceFile &file = sources.add("digits.dyn", "use \"é\"\nx = widht + 1\n");
  DiagnosticEngine diags(sources);
  {
    InstantiationScope outer(diags, "train digits", {file.id(), 0, 3});
    InstantiationScope inner(diags, "adamw on `net.dense.0.W: [128, 64]`", {file.id(), 9, 10});
    diags.report(Diag::unexpected_token, {file.id(), 13, 18}, "a value", "", "`widht`")
        .note({file.id(), 4, 8}, "read from here")
        .note("without a place")
        .help("write `width`");
  }
  EXPECT_EQ(diags.render(), "digits.dyn:2:5: error: expected a value, found `widht` [E0002]\n"
                            "  x = widht + 1\n"
                            "      ^~~~~\n"
                            "digits.dyn:1:5: note: read from here\n"
                            "  use \"é\"\n"
                            "      ^~~\n"
                            "note: without a place\n"
                            "note: in adamw on `net.dense.0.W: [128, 64]`, from digits.dyn:2\n"
                            "note: in train digits, from digits.dyn:1\n"
                            "help: write `width`\n");
  EXPECT_TRUE(diags.hasErrors());
  diags.clear();
  EXPECT_FALSE(diags.hasErrors());
  EXPECT_EQ(diags.renderJson(), "[]\n");
}

TEST(Diagnostics, ArgumentsAreNotWordings) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  diags.report(Diag::unexpected_token, Span(), "{2}", 1.5, 7);
  EXPECT_EQ(diags.all().front().text, "expected {2}1.5, found 7");
}

TEST(Diagnostics, JsonIsEscapedAndValidUtf8) {
  SourceManager sources;
  const SourceFile &file = sources.add("a\"b.dyn", "x\n");
  DiagnosticEngine diags(sources);
  diags.report(Diag::unexpected_character, {file.id(), 0, 1}, "\x01é\xff");
  EXPECT_EQ(diags.renderJson(), "[{\"code\": \"E0003\", \"severity\": \"error\", \"file\": \"a\\\"b.dyn\", \"line\": 1, "
                                "\"column\": 1, \"endLine\": 1, \"endColumn\": 2, \"message\": \"the character "
                                "\\u0001é\xEF\xBF\xBD has no meaning here\", \"notes\": [], \"chain\": [], "
                                "\"help\": null}]\n");
}

TEST(Diagnostics, LongLinesAreShownAroundThePlace) {
  SourceManager sources;
  std::string text(100000, 'a');
  const SourceFile &file = sources.add("a.dyn", text);
  DiagnosticEngine diags(sources);
  diags.report(Diag::unclosed_string, {file.id(), 50000, 99999});
  EXPECT_LT(diags.render().size(), 500u);
}

TEST(Diagnostics, RowsAreWellFormed) {
  std::set<std::string_view> codes;
#define DIAG(code, severity, name, wording)                                                                          \
  EXPECT_TRUE(codes.insert(#code).second) << #code " stands twice";                                                  \
  EXPECT_FALSE(std::string_view(wording).ends_with(".")) << #code;
#include "frontend/DiagnosticKinds.def"
}

TEST(Diagnostics, NearestName) {
  std::vector<std::string> names{"adamw", "adam", "sgd", "shuffle"};
  EXPECT_EQ(nearest("adma", names), "adam") << "a swap of neighbours is one edit";
  EXPECT_EQ(nearest("adamx", names), "adamw");
  EXPECT_EQ(nearest("shufle", names), "shuffle");
  EXPECT_EQ(nearest("quantile", names), "");
  EXPECT_EQ(nearest("x", std::vector<std::string>{"y"}), "");
  EXPECT_EQ(nearest("r", std::vector<std::string>{"qr"}), "");
  EXPECT_EQ(nearest("last_mean", std::vector<std::string>{"last_max", "last_meant", "last_means"}), "last_meant");
  EXPECT_EQ(nearest("last_mex", std::vector<std::string>{"lost_mex", "last_mew"}), "last_mew") << "the later mistake";
}
