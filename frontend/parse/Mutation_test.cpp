//===- Mutation_test.cpp - Broken programs ----------------------*- C++ -*-===//
//
// 5,000 seeded mutations of the repository's programs, by bytes and by words. None may crash the parser or hang it;
// each is either refused with a message or accepted, and then it prints and parses again. A failure names its seed;
// DYN_MUTATION_SEED=n runs that one alone.
//
//===----------------------------------------------------------------------===//

#include "frontend/TestFiles.h"
#include "frontend/parse/Parser.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <unistd.h>

using namespace dyn;

namespace {

/// A program as pieces: words, marks, spaces.
std::vector<std::string> pieces(const std::string &text) {
  std::vector<std::string> result;
  auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    while (isWord(text[i]) && end < text.size() && isWord(text[end]))
      ++end;
    result.push_back(text.substr(i, end - i));
    i = end;
  }
  return result;
}

class Mutator {
public:
  explicit Mutator(unsigned seed) : random(seed) {}

  std::string mutate(const std::string &text) {
    // A part of the file suffices, and keeps 5,000 of them quick.
    std::string part = excerpt(text);
    unsigned times = 1 + below(4);
    for (unsigned i = 0; i < times; ++i)
      part = below(3) == 0 ? mutateBytes(part) : mutatePieces(part);
    return part;
  }

private:
  size_t below(size_t n) { return n == 0 ? 0 : random() % n; }

  std::string excerpt(const std::string &text) {
    constexpr size_t most = 1200;
    if (text.size() <= most)
      return text;
    size_t begin = text.find("\n\n", below(text.size() - most / 2));
    return text.substr(begin == std::string::npos ? text.size() - most : begin, most);
  }

  std::string mutateBytes(std::string text) {
    static const std::string odd("\0\xff\xc3\xe2\r\t\"#\\{([])};", 16);
    if (text.empty())
      return text;
    size_t at = below(text.size());
    switch (below(5)) {
    case 0:
      return text.erase(at, 1 + below(8));
    case 1:
      return text.insert(at, 1, odd[below(odd.size())]);
    case 2:
      text[at] = static_cast<char>(below(256));
      return text;
    case 3:
      std::swap(text[at], text[below(text.size())]);
      return text;
    default:
      return text.substr(0, at);
    }
  }

  std::string mutatePieces(const std::string &text) {
    static const std::vector<std::string> words = {
        "fn",   "if",   "then",  "else", "for",  "in",  "while", "limit", "repeat", "return", "and", "not", "none",
        "data", "loss", "train", "step", "with", "on",  "(",     ")",     "[",      "]",      "{",   "}",   "=",
        "<-",   "->",   "~",     "..",   "+",    "-",   "*",     "//",    "@",      "^",      ".",   ",",   ":",
        ";",    "\n",   " ",     "# c",  "0x",   "1e9", "\"s\"", "state", "emit",   "send",   "é",   "==",  "<"};
    std::vector<std::string> list = pieces(text);
    if (list.empty())
      return words[below(words.size())];
    auto at = list.begin() + static_cast<ptrdiff_t>(below(list.size()));
    switch (below(5)) {
    case 0:
      list.erase(at);
      break;
    case 1:
      list.insert(at, std::string(*at));
      break;
    case 2:
      std::swap(*at, list[below(list.size())]);
      break;
    case 3:
      list.insert(at, words[below(words.size())]);
      break;
    default:
      *at = words[below(words.size())];
    }
    std::string result;
    for (const std::string &piece : list)
      result += piece;
    return result;
  }

  std::mt19937 random;
};

volatile std::sig_atomic_t currentSeed = 0;
struct sigaction earlierActions[2];

/// Names the seed, then lets whoever was in charge before (a sanitizer, the system) see the same signal.
void nameSeed(int signal) {
  char text[64];
  int size = std::snprintf(text, sizeof text, "mutation seed %d\n", static_cast<int>(currentSeed));
  if (::write(STDERR_FILENO, text, static_cast<size_t>(size)) >= 0)
    ::sigaction(signal, &earlierActions[signal == SIGABRT], nullptr);
}

/// The seed is known even if the parser does not come back.
class SeedOnCrash {
public:
  SeedOnCrash() {
    struct sigaction action {};
    action.sa_handler = nameSeed;
    action.sa_flags = SA_ONSTACK;
    ::sigaction(SIGSEGV, &action, &earlierActions[0]);
    ::sigaction(SIGABRT, &action, &earlierActions[1]);
  }
  ~SeedOnCrash() {
    ::sigaction(SIGSEGV, &earlierActions[0], nullptr);
    ::sigaction(SIGABRT, &earlierActions[1], nullptr);
  }
};

void check(unsigned seed, const std::string &text) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  auto program = parse(sources.add("mutated.dyn", text), diags);
  ASSERT_EQ(program == nullptr, diags.hasErrors()) << "seed " << seed;
  if (!program) {
    ASSERT_FALSE(diags.render().empty());
    return;
  }
  std::string printed = ast::print(*program);
  auto again = parse(sources.add("printed.dyn", printed), diags);
  ASSERT_TRUE(again) << "seed " << seed << "\n" << diags.render() << printed;
  ASSERT_EQ(ast::dump(*program), ast::dump(*again)) << "seed " << seed;
  ASSERT_EQ(ast::print(*again), printed) << "seed " << seed;
  ASSERT_EQ(program->comments.size(), again->comments.size()) << "seed " << seed;
}

} // namespace

TEST(Mutation, ParserSurvivesFiveThousand) {
  std::vector<std::string> texts;
  for (const std::string &path : test::goodFiles())
    texts.push_back(test::readFile(path));
  ASSERT_FALSE(texts.empty());
  const char *only = std::getenv("DYN_MUTATION_SEED");
  unsigned begin = only ? static_cast<unsigned>(std::strtoul(only, nullptr, 10)) : 0;
  unsigned end = only ? begin + 1 : 5000;
  SeedOnCrash scope;
  for (unsigned seed = begin; seed < end && !::testing::Test::HasFatalFailure(); ++seed) {
    currentSeed = static_cast<std::sig_atomic_t>(seed);
    check(seed, Mutator(seed).mutate(texts[seed % texts.size()]));
  }
}
