#include "core/digit_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace fourscore {
namespace {

/// By the definition: part by part, and within a part digit by digit.
std::vector<Index> listed(const DigitOrder& order) {
  std::vector<Index> indices;
  for (int part = 0; part < order.parts(); ++part) {
    std::vector<Range> ranges(order.digits.size());
    int rest = part;
    for (std::size_t d = order.digits.size(); d-- > 0; rest /= order.digits[d].parts)
      ranges[d] = block_range(order.digits[d].extent, order.digits[d].parts, rest % order.digits[d].parts);
    std::vector<Index> sums{0};
    for (const std::size_t d : order.storage) {
      std::vector<Index> longer;
      for (const Index sum : sums)
        for (Index value = ranges[d].low; value < ranges[d].high; ++value)
          longer.push_back(sum + value * order.digits[d].weight);
      sums = longer;
    }
    indices.insert(indices.end(), sums.begin(), sums.end());
  }
  return indices;
}

const std::vector<DigitOrder>& orders() {
  static const std::vector<DigitOrder> list{
      {{{6, 1, 1}}, {0}},
      {{{6, 1, 4}}, {0}},
      {{{4, 6, 1}, {6, 1, 3}}, {0, 1}},
      {{{4, 6, 3}, {6, 1, 1}}, {1, 0}},
      {{{5, 1, 2}, {3, 5, 3}, {4, 15, 1}}, {2, 0, 1}},
      {{{5, 12, 2}, {3, 4, 1}, {4, 1, 5}}, {0, 2, 1}},
      bit_reversed_parts(48, 1),
      bit_reversed_parts(48, 8),
      bit_reversed_parts(16, 16),
  };
  return list;
}

TEST(DigitOrder, IsTheDefinition) {
  for (const DigitOrder& order : orders()) {
    const std::vector<Index> expected = listed(order);
    ASSERT_EQ(static_cast<Index>(expected.size()), order.size());
    std::vector<Index> sorted = expected;
    std::ranges::sort(sorted);
    for (Index i = 0; i < order.size(); ++i) ASSERT_EQ(sorted[static_cast<std::size_t>(i)], i);
    for (const std::size_t first : {std::size_t{0}, expected.size() / 3, expected.size() - 1}) {
      std::vector<Index> indices(expected.size() - first);
      order.indices(static_cast<Index>(first), indices);
      EXPECT_TRUE(std::ranges::equal(indices, std::span(expected).subspan(first)));
    }
    Index coordinate = 0;
    for (int part = 0; part < order.parts(); ++part) {
      const Range range = order.range(part);
      EXPECT_EQ(range.low, coordinate);
      for (; coordinate < range.high; ++coordinate) {
        EXPECT_EQ(order.part_of(coordinate), part);
        EXPECT_EQ(order.coordinate_of(expected[static_cast<std::size_t>(coordinate)]), coordinate);
      }
    }
    EXPECT_EQ(coordinate, order.size());
    if (order.is_identity()) {
      EXPECT_TRUE(std::ranges::is_sorted(expected));
    }
  }
}

TEST(DigitOrder, KnowsTheIdentity) {
  EXPECT_TRUE((DigitOrder{{{6, 1, 4}}, {0}}).is_identity());
  EXPECT_TRUE((DigitOrder{{{4, 6, 2}, {6, 1, 1}}, {0, 1}}).is_identity());
  EXPECT_FALSE((DigitOrder{{{4, 6, 1}, {6, 1, 2}}, {0, 1}}).is_identity());
  EXPECT_FALSE((DigitOrder{{{4, 6, 1}, {6, 1, 1}}, {1, 0}}).is_identity());
}

TEST(BitReversedParts, AreWhatEvenAndOddSplitsLeave) {
  std::vector<Index> indices(12);
  bit_reversed_parts(12, 4).indices(0, indices);
  EXPECT_EQ(indices, (std::vector<Index>{0, 4, 8, 2, 6, 10, 1, 5, 9, 3, 7, 11}));
  EXPECT_EQ(reversed_bits(6, 4), 6);
  EXPECT_EQ(reversed_bits(1, 3), 4);
}

TEST(BlockNumber, IsTheBlockThatHasTheIndex) {
  for (const Index n : {1, 5, 12})
    for (const Index parts : {1, 3, 7, 12})
      for (Index part = 0; part < parts; ++part)
        for (Index i = block_range(n, parts, part).low; i < block_range(n, parts, part).high; ++i)
          EXPECT_EQ(block_number(n, parts, i), part);
}

}  // namespace
}  // namespace fourscore
