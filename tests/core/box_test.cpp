#include "core/box.hpp"

#include <gtest/gtest.h>

namespace fourscore {
namespace {

TEST(Box, VolumeIsTheProductOfItsExtents) {
  const Box box{{1, 2, 3}, {4, 4, 10}};
  EXPECT_EQ(box.extents(), (Extents{3, 2, 7}));
  EXPECT_EQ(box.volume(), 42);
  EXPECT_FALSE(box.empty());
}

TEST(Box, IsEmptyWhenAnyHighDoesNotExceedItsLow) {
  const Box box{{0, 5, 0}, {4, 3, 4}};
  EXPECT_EQ(box.extents(), (Extents{4, 0, 4}));
  EXPECT_TRUE(box.empty());
  EXPECT_TRUE(Box{}.empty());
}

TEST(Box, IntersectionHoldsExactlyTheCommonElements) {
  const Box a{{0, 0, 0}, {5, 3, 4}};
  const Box b{{2, 1, 0}, {9, 2, 2}};
  const Box common = intersect(a, b);
  Index inside_both = 0;
  for (Index i = 0; i < 9; ++i)
    for (Index j = 0; j < 4; ++j)
      for (Index k = 0; k < 4; ++k) {
        const Box element{{i, j, k}, {i + 1, j + 1, k + 1}};
        const bool both = !intersect(a, element).empty() && !intersect(b, element).empty();
        inside_both += both ? 1 : 0;
        EXPECT_EQ(both, !intersect(common, element).empty());
      }
  EXPECT_EQ(common.volume(), inside_both);
  EXPECT_EQ(common, intersect(b, a));
}

TEST(Box, DisjointBoxesIntersectInADefaultBox) {
  EXPECT_EQ(intersect({{0, 0, 0}, {2, 2, 2}}, {{2, 0, 0}, {4, 2, 2}}), Box{});
  EXPECT_EQ(intersect({{7, 7, 7}, {7, 9, 9}}, {{0, 0, 0}, {10, 10, 10}}), Box{});
}

TEST(Box, BlocksOfAnUnevenExtentDifferByAtMostOne) {
  for (const Index n : {0, 1, 2, 7, 13, 64, 1000003})
    for (const int parts : {1, 2, 3, 5, 8, 17}) {
      Index next = 0;
      for (int part = 0; part < parts; ++part) {
        const Range range = block_range(n, parts, part);
        EXPECT_EQ(range.low, next);
        EXPECT_GE(range.size(), n / parts);
        EXPECT_LE(range.size(), n / parts + 1);
        if (part > 0) {
          EXPECT_LE(range.size(), block_range(n, parts, part - 1).size());
        }
        next = range.high;
      }
      EXPECT_EQ(next, n);
    }
}

TEST(Box, BlocksOfABlockCoverItInOrderAndDifferByAtMostOne) {
  for (const Index n : {1, 13, 64})
    for (const int outer_parts : {1, 3, 5})
      for (const int inner_parts : {1, 2, 7}) {
        Index next = 0;
        for (int outer = 0; outer < outer_parts; ++outer) {
          const Range whole = block_range(n, outer_parts, outer);
          for (int inner = 0; inner < inner_parts; ++inner) {
            const Range range = block_range(whole, inner_parts, inner);
            EXPECT_EQ(range.low, next);
            EXPECT_GE(range.size(), whole.size() / inner_parts);
            EXPECT_LE(range.size(), whole.size() / inner_parts + 1);
            next = range.high;
          }
          EXPECT_EQ(next, whole.high);
        }
        EXPECT_EQ(next, n);
      }
}

}  // namespace
}  // namespace fourscore
