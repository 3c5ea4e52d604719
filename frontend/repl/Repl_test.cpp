//===- Repl_test.cpp - sessions without a terminal ------------------------===//
//
// What a session prints is tested by test/repl/. Here: the parts by themselves, and that nothing a person types ends a
// session: prefixes of the repository's programs, programs with words exchanged, the words of a session in any order,
// several hundred in one session. A failure names its seed; DYN_REPL_SEED=n begins with that one.
//
//===----------------------------------------------------------------------===//

#include "frontend/TestFiles.h"
#include "frontend/repl/Chart.h"
#include "frontend/repl/Repl.h"
#include "frontend/repl/Show.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <sstream>

using namespace dyn;
using namespace dyn::repl;

namespace {

ReplOptions quick() {
  ReplOptions options;
  options.cache = false;
  options.threads = 1;
  return options;
}

//===----------------------------------------------------------------------===//
// What is shown
//===----------------------------------------------------------------------===//

TEST(Show, ArraysStandInBrackets) {
  EXPECT_EQ(show({{}, {2.5}, elab::Elem::Real}, 0), "2.5");
  EXPECT_EQ(show({{3}, {1, 2, 3}, elab::Elem::Int}, 0), "[1, 2, 3]");
  EXPECT_EQ(show({{2}, {0, 1}, elab::Elem::Bool}, 0), "[false, true]");
  EXPECT_EQ(show({{2, 2}, {1, -20, 3, 4}, elab::Elem::Real}, 4), "[[  1, -20],\n     [  3,   4]]");
  EXPECT_EQ(show({{0}, {}, elab::Elem::Real}, 0), "[]");
  EXPECT_EQ(show({{2}, {NAN, -INFINITY}, elab::Elem::Real}, 0), "[nan, -inf]");
}

TEST(Show, LongArraysShowTheirEnds) {
  Array array{{40, 50}, {}, elab::Elem::Int};
  for (int i = 0; i < 2000; ++i)
    array.values.push_back(i);
  EXPECT_EQ(show(array, 0), "[[   0,    1,    2, …,   47,   48,   49],\n"
                            " [  50,   51,   52, …,   97,   98,   99],\n"
                            " [ 100,  101,  102, …,  147,  148,  149],\n"
                            " …,\n"
                            " [1850, 1851, 1852, …, 1897, 1898, 1899],\n"
                            " [1900, 1901, 1902, …, 1947, 1948, 1949],\n"
                            " [1950, 1951, 1952, …, 1997, 1998, 1999]]");
  EXPECT_EQ(typeOf(array), "int[40, 50]");
}

TEST(Chart, ADiagonalGoesFromCornerToCorner) {
  EXPECT_EQ(chart("loss", {0, 10}, {0, 1}, 20, 2), "   loss\n"
                                                   "1 ┤⠀⠀⠀⠀⠀⠀⠀⠀⢀⣀⣀⠤⠤⠒⠒⠊⠉\n"
                                                   "0 ┤⣀⡠⠤⠤⠒⠒⠉⠉⠁⠀⠀⠀⠀⠀⠀⠀⠀\n"
                                                   "   0              10\n");
  EXPECT_EQ(chart("loss", {0, 1}, {NAN, NAN}, 20, 2), "loss: no value yet\n");
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

TEST(Entry, GoesOnWhereTheParserAsksForMore) {
  for (const char *text :
       {"f(1,", "x = [1, 2", "x = 1 +", "fn f(x) =", "train t {", "model m(n: int)(x: [n]) -> [n] {\n  param b: [n] = 0",
        "f(1", "x = if a", "x = if a then b", "data d = synthetic(3) {\n", "x = a and", "run r =", "sweep s ="})
    EXPECT_TRUE(Repl::wantsMore(text)) << text;
  for (const char *text : {"", "1", "x = 1", "f(1 2", "train t {\n  loss", "fn f(x)", "x = )", ":plot", "set lr",
                           "x = \"abc", "# only words", "train t { }", "run r = t", "continue"})
    EXPECT_FALSE(Repl::wantsMore(text)) << text;
}

TEST(Session, AnErrorLeavesEverythingAsItWas) {
  Repl repl(quick());
  EXPECT_TRUE(repl.enter("fn double(x) = 2*x\n"));
  EXPECT_TRUE(repl.enter("four = double(2)\n"));
  EXPECT_FALSE(repl.enter("fn double(x, y) = x + y\n")) << "`four` no longer fits it";
  EXPECT_TRUE(repl.enter("expect four == 4\n"));
  EXPECT_TRUE(repl.enter("fn double(x) = x + x + 1\n"));
  EXPECT_TRUE(repl.enter("expect four == 5\n"));
  EXPECT_FALSE(repl.enter("fn other(x) = undefined_name(x)\n"));
  EXPECT_FALSE(repl.enter("other(1)\n"));
  EXPECT_FALSE(repl.enter("expect four == 4\n"));
}

TEST(Session, WhatIsDrawnStays) {
  Repl repl(quick());
  EXPECT_TRUE(repl.enter("x = draw(normal(), shape=[8])\n"));
  EXPECT_TRUE(repl.enter("y = x\n"));
  EXPECT_TRUE(repl.enter("expect same(x, y)\n"));
  EXPECT_TRUE(repl.enter("x = 3\n"));
  EXPECT_TRUE(repl.enter("expect x == 3\n"));
}

TEST(Session, TrainsFollowTheirRules) {
  Repl repl(quick());
  ASSERT_TRUE(repl.enter("optimizer step_by(lr = 0.5) { param <- param - lr*grad }\n"));
  ASSERT_TRUE(repl.enter("model at()() -> [2] {\n  param x: [2] = 1\n  return x\n}\n"));
  ASSERT_TRUE(repl.enter("train t {\n  model p = at()\n  loss sum(p()^2)/2\n  optimizer step_by()\n  steps 1\n}\n"));
  ASSERT_TRUE(repl.enter("run a = t\n"));
  EXPECT_TRUE(repl.enter("expect all(a.params.p.x == 0.5)\n"));
  ASSERT_TRUE(repl.enter("optimizer step_by(lr = 0.5) { param <- param + lr*grad }\n"));
  ASSERT_TRUE(repl.enter("run b = t\n"));
  EXPECT_TRUE(repl.enter("expect all(b.params.p.x == 1.5)\n"));
  EXPECT_TRUE(repl.enter("expect all(a.params.p.x == 0.5)\n"));
  EXPECT_FALSE(repl.enter("optimizer step_by(rate = 0.5, other) { param <- param - rate*other*grad }\n"));
  ASSERT_TRUE(repl.enter("run c = t\n"));
  EXPECT_TRUE(repl.enter("expect same(b.params.p.x, c.params.p.x)\n"));
}

//===----------------------------------------------------------------------===//
// Nothing ends a session
//===----------------------------------------------------------------------===//

class Fuzz {
public:
  explicit Fuzz(unsigned seed) : random(seed) {}

  std::string entry(const std::vector<std::string> &texts) {
    std::string text = texts[random() % texts.size()];
    text.resize(random() % (text.size() + 1));
    // Entries begin where declarations do; most of a file's prefix was entered before.
    if (size_t begin = text.rfind("\n\n"); begin != std::string::npos && random() % 3 != 0)
      text = text.substr(begin + 2);
    if (random() % 2 == 0)
      exchangeWords(text);
    return text;
  }

private:
  void exchangeWords(std::string &text) {
    static const char *const words[] = {"x", "1",   "run", ":plan", "=",     "(",  "}", "loss",
                                        "-", "[3]", "t",   "\"",    "adamw", "if", "\n"};
    for (int i = 0; i < 2 && !text.empty(); ++i) {
      size_t begin = random() % text.size(), end = begin;
      while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])))
        ++end;
      text.replace(begin, std::max<size_t>(end - begin, 1), words[random() % std::size(words)]);
    }
  }

  std::mt19937 random;
};

unsigned firstSeed() {
  const char *given = std::getenv("DYN_REPL_SEED");
  return given ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : 0;
}

/// No failure inside the compiler is among the messages.
void expectNoFailure(const std::string &output) {
  size_t at = output.find("E0708");
  EXPECT_EQ(at, std::string::npos) << output.substr(at > 2000 ? at - 2000 : 0, 2400);
}

TEST(Session, SurvivesPrefixesAndMutations) {
  std::vector<std::string> texts;
  for (const std::string &path : test::dynFiles({"examples", "stdlib"}))
    texts.push_back(test::readFile(path));
  ASSERT_FALSE(texts.empty());
  unsigned begin = firstSeed();
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Repl repl(quick());
  unsigned accepted = 0, failed = 0;
  for (unsigned seed = begin; seed < begin + 400 && !repl.isOver(); ++seed) {
    std::string entry = Fuzz(seed).entry(texts);
    if (Repl::wantsMore(entry))
      repl.giveUp(entry);
    else
      accepted += repl.enter(entry);
    failed += !repl.enter("expect 1 + 1 == 2\n");
    ASSERT_EQ(failed, 0u) << "seed " << seed << "\n" << entry;
  }
  std::string output = testing::internal::GetCapturedStderr();
  testing::internal::GetCapturedStdout();
  EXPECT_GT(accepted, 20u);
  expectNoFailure(output);
}

/// What a person with a wandering mind enters: the words of a session in any order.
static std::string sentence(std::mt19937 &random) {
  static const char *const beginnings[] = {"run ",  "run r = ", "sweep s = ", "continue ", "set ",  "stop ",  ":plot ",
                                           ":ir ",  ":plan ",   ":help ",     ":load ",    "x = ",  "expect ", "",
                                           ":pause ", ":time ", ":list ",     "fn f(x) = ", "t = ",
                                           "train t { model p = at();  "};
  static const char *const words[] = {"r",     "s",     "t",     "x",   "f(1)",  "3",         "lr",       "1e-3",
                                      "with",  "seed",  "in",    "0..3", ".",    "params",    ".p.x",     "loss",
                                      "last(", ")",     "r.loss", "[0]", "= ",   "optimizer", "adam()",   "steps 4",
                                      "nd",    "steps", "9999999999999999999", "-1", "\"",  "\xff",      "ä",
                                      "}",     "(",     "r.optimizer.m", "s.loss", "over=seed", "mean(",  ","};
  std::string text = beginnings[random() % std::size(beginnings)];
  for (size_t i = random() % 6; i > 0; --i)
    text += std::string(words[random() % std::size(words)]) + (random() % 3 ? " " : "");
  return text + "\n";
}

TEST(Session, SurvivesSentences) {
  unsigned begin = firstSeed();
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Repl repl(quick());
  ASSERT_TRUE(repl.enter("model at()() -> [2] {\n  param x: [2] = 1\n  return x\n}\n"));
  ASSERT_TRUE(repl.enter("train t(lr = 0.1) {\n  model p = at()\n"
                         "  loss sum(p()^2)\n  optimizer adam(lr=lr)\n  steps 8\n}\n"));
  unsigned accepted = 0;
  for (unsigned seed = begin; seed < begin + 400 && !repl.isOver(); ++seed) {
    std::mt19937 random(seed);
    if (seed % 10 == 0)
      (void)(repl.enter(":pause 3\n") && repl.enter("run r = t\n"));
    std::string entry = sentence(random);
    if (Repl::wantsMore(entry))
      repl.giveUp(entry);
    else
      accepted += repl.enter(entry);
    ASSERT_TRUE(repl.enter("expect 1 + 1 == 2\n")) << "seed " << seed << "\n" << entry;
  }
  std::string output = testing::internal::GetCapturedStderr();
  testing::internal::GetCapturedStdout();
  EXPECT_GT(accepted, 15u);
  expectNoFailure(output);
}

/// The lines of a text, as a pipe has them.
class TextLines : public LineSource {
public:
  explicit TextLines(const std::string &text) : stream(text) {}
  Event next(const std::string &, std::string &line) override {
    return std::getline(stream, line) ? Event::Line : Event::End;
  }

private:
  std::istringstream stream;
};

/// DYN_REPL_PREFIXES=all enters every prefix of every example; else some hundreds, evenly.
TEST(Session, SurvivesEveryPrefixOfTheExamples) {
  const char *given = std::getenv("DYN_REPL_PREFIXES");
  size_t stride = given && std::string(given) == "all" ? 1 : 29, entered = 0;
  Repl repl(quick());
  for (const std::string &path : test::dynFiles({"examples"})) {
    std::string text = test::readFile(path);
    for (size_t size = firstSeed() % stride; size <= text.size(); size += stride, ++entered) {
      testing::internal::CaptureStdout();
      testing::internal::CaptureStderr();
      TextLines lines(text.substr(0, size));
      (void)enterAll(repl, lines);
      bool alive = !repl.isOver() && repl.enter("expect 1 + 1 == 2\n");
      std::string output = testing::internal::GetCapturedStderr();
      testing::internal::GetCapturedStdout();
      ASSERT_TRUE(alive) << path << ", first " << size << " bytes";
      ASSERT_EQ(output.find("E0708"), std::string::npos) << path << ", first " << size << " bytes\n" << output;
    }
  }
  EXPECT_GT(entered, 250u);
}

} // namespace
