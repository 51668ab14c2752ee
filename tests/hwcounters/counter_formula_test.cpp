#include <gmock/gmock.h>

#include "hwcounters/formula.hpp"
#include "support/message_of.hpp"

namespace fourscore {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Formula, NamesAreUsedOnceAndSorted) {
  EXPECT_THAT(Formula("64 * (b + a) - b / 2").names(), ElementsAre("a", "b"));
  EXPECT_THAT(Formula("1e3").names(), ElementsAre());
}

TEST(Formula, ValuesFollowTheOrderOfTheNames) {
  const Formula formula("64 * (b + a) - b / 2");
  EXPECT_THAT(formula.value(std::vector<double>{3, 4}), DoubleEq(64 * 7 - 2));
  EXPECT_THAT(formula.value(std::vector<double>{0, 2}), DoubleEq(127));
  EXPECT_THAT(Formula("-2.5e-1 * x").value(std::vector<double>{8}), DoubleEq(-2));
}

TEST(Formula, StaysValidWhenMoved) {
  Formula first("2 * x");
  Formula second = std::move(first);
  EXPECT_THAT(second.value(std::vector<double>{21}), DoubleEq(42));
}

std::string error_of(const std::string& text) {
  return test::message_of<FormulaError>([&] { return Formula(text); });
}

TEST(Formula, MistakesAreReportedWithTheirPlace) {
  EXPECT_THAT(error_of(""), HasSubstr("empty"));
  EXPECT_THAT(error_of("a +"), HasSubstr("character 4: it ends"));
  EXPECT_THAT(error_of("(a"), HasSubstr(") is missing"));
  EXPECT_THAT(error_of("a)"), HasSubstr("character 2"));
  EXPECT_THAT(error_of("a b"), HasSubstr("character 3"));
  EXPECT_THAT(error_of("2 ** a"), HasSubstr("character 4"));
}

TEST(Formula, WhatGroupsMayNotWriteIsRefused) {
  EXPECT_THAT(error_of("a = 3"), HasSubstr("character 3: '='"));
  EXPECT_THAT(error_of("a > 1 ? 2 : 3"), HasSubstr("'>'"));
  EXPECT_THAT(error_of("sqrt(a)"), HasSubstr("character"));
  EXPECT_THAT(error_of("a^2"), HasSubstr("'^'"));
  EXPECT_THAT(error_of("max(a, b)"), HasSubstr("','"));
}

TEST(Formula, NeedsAValueForEveryName) {
  const Formula formula("a + b");
  EXPECT_THROW((void)formula.value(std::vector<double>{1}), std::invalid_argument);
}

}  // namespace
}  // namespace fourscore
