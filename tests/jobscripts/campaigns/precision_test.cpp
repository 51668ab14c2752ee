#include "jobscripts/campaigns/precision.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace fourscore {
namespace {

using Places = std::pair<std::size_t, std::size_t>;

/// The probability that the median of the source lies between two of the ordered values, by the definition.
double coverage(std::size_t count, const Places& places) {
  double sum = 0;
  const auto n = static_cast<double>(count);
  for (std::size_t below = places.first + 1; below <= places.second; ++below) {
    const auto k = static_cast<double>(below);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) - n * std::log(2.0));
  }
  return sum;
}

TEST(MedianInterval, IsTheOneOfPrintedTables) {
  // Conover, Practical Nonparametric Statistics, 3rd edition, section 3.2: 95 %, ranks from 1.
  const std::vector<std::pair<std::size_t, Places>> table{{6, {1, 6}},   {7, {1, 7}},   {8, {1, 8}},    {9, {2, 8}},
                                                          {10, {2, 9}},  {11, {2, 10}}, {12, {3, 10}},  {15, {4, 12}},
                                                          {20, {6, 15}}, {25, {8, 18}}, {30, {10, 21}}, {50, {18, 33}}};
  for (const auto& [count, ranks] : table)
    EXPECT_EQ(median_interval(count), Places(ranks.first - 1, ranks.second - 1)) << count;
}

TEST(MedianInterval, IsTheNarrowestThatHoldsTheMedianWith95Percent) {
  for (std::size_t count = 6; count <= 1000; ++count) {
    const Places places = median_interval(count);
    ASSERT_EQ(places.first + places.second, count - 1) << "as many values below it as above";
    ASSERT_GE(coverage(count, places), 0.95 - 1e-9) << count;
    if (places.second > places.first + 2) {
      ASSERT_LT(coverage(count, {places.first + 1, places.second - 1}), 0.95 + 1e-9) << count;
    }
  }
}

TEST(MedianInterval, DoesNotExistForFewerThanSixValues) {
  for (std::size_t count = 0; count < 6; ++count) EXPECT_EQ(median_interval(count), Places(0, 0));
  EXPECT_TRUE(std::isinf(relative_precision({1, 1, 1, 1, 1})));
}

TEST(RelativePrecision, IsHalfTheIntervalOverTheMedian) {
  EXPECT_DOUBLE_EQ(relative_precision({2, 2, 2, 2, 2, 2}), 0.0);
  // The second and the eighth of nine values: (8 - 2) / 2 / 5.
  EXPECT_DOUBLE_EQ(relative_precision({9, 8, 7, 6, 5, 4, 3, 2, 1}), 0.6);
}

}  // namespace
}  // namespace fourscore
