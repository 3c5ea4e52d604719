//===- Mutation_test.cpp - Broken programs ----------------------*- C++ -*-===//
//
// 5,000 seeded mutations of the repository's programs, by bytes and by words. None may crash the parser or hang it;
// each is either refused with a message or accepted, and then it prints and parses again. A failure names its seed;
// DYN_MUTATION_SEED=n runs that one alone.
//
//===----------------------------------------------------------------------===//

#include "frontend/TestFiles.h"
#include "frontend/parse/Parser.h"
#include "test/fuzz/Mutator.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

using namespace dyn;

namespace {

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
    fuzz::Mutator mutator(seed);
    // A part of the file suffices, and keeps 5,000 of them quick.
    check(seed, mutator.mutate(mutator.excerpt(texts[seed % texts.size()])));
  }
}
