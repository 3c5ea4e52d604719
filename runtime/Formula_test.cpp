//===- Formula_test.cpp ---------------------------------------------------===//
#include "runtime/Formula.h"

#include <gtest/gtest.h>

using namespace dyn;

namespace {

double valueOf(const std::string &text, const std::vector<double> &variables = {}) {
  static const std::vector<std::string> names = {"lr", "beta1"};
  auto codes = compileFormula(text, names);
  EXPECT_TRUE(codes) << text;
  return codes ? dyn_formula_value(codes->data(), static_cast<int64_t>(codes->size()), variables.data()) : NAN;
}

TEST(Formula, operandsStandInWrittenOrder) {
  EXPECT_EQ(valueOf("- 1 $beta1", {0.5, 0.75}), 0.25);
  EXPECT_EQ(valueOf("/ $lr - 3 $beta1", {4, 1}), 2);
  EXPECT_EQ(valueOf("^ 2 neg $lr", {3, 0}), 0.125);
}

TEST(Formula, remaindersFollowTheDivisor) {
  EXPECT_EQ(valueOf("% -7 3"), 2);
  EXPECT_EQ(valueOf("// -7 3"), -3);
}

TEST(Formula, literalsKeepAllDigits) { EXPECT_EQ(valueOf("0.10000000000000001"), 0.1); }

TEST(Formula, whatIsNoFormulaIsRefused) {
  for (const char *text : {"", "+ 1", "1 2", "$unknown", "one", "?"})
    EXPECT_FALSE(compileFormula(text, {"lr"})) << text;
}

TEST(Formula, theStackHoldsWhatIsAccepted) {
  // a + (a + (… + a)): the numbers on the left wait on the stack.
  std::string text;
  for (int i = 1; i < DYN_FORMULA_DEPTH; ++i)
    text += "+ 1 ";
  EXPECT_EQ(valueOf(text + "1"), DYN_FORMULA_DEPTH);
  EXPECT_FALSE(compileFormula("+ 1 " + text + "1", {}));
}

} // namespace
