#include "core/number_ranges.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace fourscore {
namespace {

std::string text(const std::vector<int>& numbers) { return number_ranges(numbers); }

TEST(NumberRanges, AreStretchesOfOneStepAndSingleNumbers) {
  EXPECT_EQ(text({}), "");
  EXPECT_EQ(text({7}), "7");
  EXPECT_EQ(text({0, 1}), "0-1");
  EXPECT_EQ(text({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(text({0, 4}), "0,4");
  EXPECT_EQ(text({0, 4, 8}), "0-8/4");
  EXPECT_EQ(text({1, 5, 9, 10, 11}), "1-9/4,10-11");
  EXPECT_EQ(text({0, 2, 3, 4}), "0,2-4");
}

TEST(NumberRanges, OfManyRanksInTurnAreShort) {
  std::vector<int> every_16th(1024);
  for (std::size_t i = 0; i < every_16th.size(); ++i) every_16th[i] = 3 + 16 * static_cast<int>(i);
  EXPECT_EQ(number_ranges(every_16th), "3-16371/16");
}

TEST(NumberRanges, RefuseNumbersThatDoNotAscend) {
  EXPECT_THROW((void)text({1, 1}), std::invalid_argument);
  EXPECT_THROW((void)text({2, 1}), std::invalid_argument);
}

TEST(NumberRanges, AreTheSameNumbersAgain) {
  using Numbers = std::vector<int>;
  for (const Numbers& numbers : {Numbers{}, Numbers{5}, Numbers{0, 1}, Numbers{0, 1, 2, 3, 8, 16, 20, 24, 28}})
    EXPECT_EQ(numbers_of_ranges(number_ranges(numbers)), numbers) << number_ranges(numbers);
  for (const char* text : {"x", "1-", "3-1", "-1", "1,,2", "1,", "0-9/0", "0-9/x", "0-2000000000", "99999999999"})
    EXPECT_EQ(numbers_of_ranges(text), std::nullopt) << text;
}

}  // namespace
}  // namespace fourscore
