#include "runtime/Plan.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace dyn::plan;

namespace {

Plan example() {
  Plan plan;
  plan.name = "digits";
  plan.specFile = "digits.dyn";
  plan.precision = Element::f64;
  plan.total = 440;
  plan.seeded = true;
  plan.seed = 0xfedcba9876543210u;
  plan.arenas = {{"params", "params", 5200}, {"raw", "raw", 66560}};
  plan.params = {{"net.W", {64, 10}, Element::f64, 0, 0, "adamw"}};
  plan.states = {{"net.W.m", {64, 10}, Element::f64, 0, 650, "adamw"}};
  Source source;
  source.name = "digits";
  source.format = "csv";
  source.inputs = {{"digits.csv.gz", 65, 1, true, "x"}};
  source.rows = 1797;
  source.chunk = 128;
  source.fields = {{"image", {64}, Element::f64, 0}, {"label", {}, Element::i64, 10}};
  source.chunkArenas = {2, 3};
  source.function = "dyn_data_digits";
  source.spec = "digits.dyn:1:1";
  plan.sources = {source};
  plan.sets = {{"digits.train", 0, 0, 1438, true, 7, {4, -1}, 23}};
  plan.feeds = {{"digits.train", 0, 64, true, false}};
  plan.events = {{"step", 100, {}}, {"at", 1, {0, 20}}};
  plan.metrics = {{"loss", "step", {2, 3}, {"a", "b"}, {{"x", "y"}, {}}}};
  plan.numbers = {{"lr", 3e-3, "rate/2"}, {"limit", HUGE_VAL, ""}};
  plan.products = {{Element::f32, 2, 32, 64, 10, true, false}};
  plan.sites = {{"guard", "loss", "digits.dyn:9:3"}};
  return plan;
}

TEST(Plan, jsonRoundTripIsTheIdentity) {
  std::string text = toJson(example());
  Plan again;
  std::string why;
  ASSERT_TRUE(fromJson(text, again, why)) << why;
  EXPECT_EQ(toJson(again), text);
  EXPECT_EQ(again.seed, 0xfedcba9876543210u);
  EXPECT_EQ(again.numbers[1].value, HUGE_VAL);
  EXPECT_TRUE(again.sources[0].inputs[0].header);
}

std::string refuse(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  Plan plan;
  std::string why;
  EXPECT_FALSE(fromJson(text, plan, why));
  return why;
}

TEST(Plan, strangePlansAreRefusedWithAReason) {
  std::string text = toJson(example());
  EXPECT_EQ(refuse(text, "\"total\":440", "\"totel\":440"), "key `total` is missing");
  EXPECT_EQ(refuse(text, "\"total\":440", "\"total\":440,\"extra\":1"),
            "`plan` has keys that this build does not know");
  EXPECT_EQ(refuse(text, "\"total\":440", "\"total\":4.5"), "`total` is number, expected a whole number of 64 bits");
  EXPECT_EQ(refuse(text, "\"width\":65", "\"width\":\"65\""),
            "`sources[0].inputs[0].width` is string, expected a whole number of 64 bits");
  EXPECT_EQ(refuse(text, "\"precision\":\"f64\"", "\"precision\":\"f16\""),
            "`precision` is \"f16\", expected \"f32\", \"f64\", \"i64\" or \"i1\"");
  EXPECT_EQ(refuse(text, "\"abi\":", "\"abi\":9"), "made for another version of the runtime");
  EXPECT_EQ(refuse(text, "{", "["), "not a JSON object");
}

} // namespace
