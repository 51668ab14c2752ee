#include "core/grid.hpp"

#include <gtest/gtest.h>

#include <set>

namespace fourscore {
namespace {

TEST(Grid, RankAndCoordinatesAreInverse) {
  const Grid grid{{2, 3, 4}};
  ASSERT_EQ(grid.ranks(), 24);
  for (int rank = 0; rank < grid.ranks(); ++rank) EXPECT_EQ(grid.rank_of(grid.coordinates(rank)), rank);
  EXPECT_EQ(grid.coordinates(1), (std::array<int, 3>{0, 0, 1}));
  EXPECT_EQ(grid.coordinates(4), (std::array<int, 3>{0, 1, 0}));
}

TEST(Decomposition, EveryElementHasExactlyOneOwner) {
  for (const Extents& shape : {Extents{7, 1, 9}, Extents{2, 3, 64}, Extents{15, 14, 13}, Extents{1, 1, 5}})
    for (const Grid& grid : {Grid{{1, 1, 1}}, Grid{{4, 1, 1}}, Grid{{3, 2, 1}}, Grid{{1, 5, 2}}, Grid{{2, 2, 2}}})
      for (const auto& order : {std::array<int, 3>{0, 1, 2}, std::array<int, 3>{1, 2, 0}}) {
        Decomposition decomposition = decompose(shape, grid);
        decomposition.order = order;
        ASSERT_EQ(decomposition.ranks(), grid.ranks());
        std::set<Extents> owned;
        Index elements = 0;
        for (int rank = 0; rank < decomposition.ranks(); ++rank) {
          const Index volume = decomposition.boxes[static_cast<std::size_t>(rank)].volume();
          elements += volume;
          for (Index offset = 0; offset < volume; ++offset) owned.insert(decomposition.global_index(rank, offset));
        }
        EXPECT_EQ(elements, shape[0] * shape[1] * shape[2]);
        EXPECT_EQ(owned.size(), static_cast<std::size_t>(elements));
        EXPECT_EQ(*owned.begin(), (Extents{0, 0, 0}));
        EXPECT_EQ(*owned.rbegin(), (Extents{shape[0] - 1, shape[1] - 1, shape[2] - 1}));
      }
}

TEST(Decomposition, MoreRanksThanExtentsLeavesTheLastRanksEmpty) {
  const Decomposition decomposition = decompose({3, 4, 5}, {{8, 1, 1}});
  for (std::size_t rank = 0; rank < 8; ++rank) EXPECT_EQ(decomposition.boxes[rank].empty(), rank >= 3);
  EXPECT_EQ(decomposition.max_volume(), 20);
}

TEST(Decomposition, StridesFollowTheStorageOrder) {
  Decomposition decomposition = decompose({4, 5, 6}, {{1, 1, 1}});
  EXPECT_EQ(decomposition.strides(0), (Extents{30, 6, 1}));
  decomposition.order = {2, 0, 1};
  EXPECT_EQ(decomposition.strides(0), (Extents{5, 1, 20}));
  const Extents strides = decomposition.strides(0);
  for (Index offset = 0; offset < 120; ++offset) {
    const Extents index = decomposition.global_index(0, offset);
    EXPECT_EQ(index[0] * strides[0] + index[1] * strides[1] + index[2] * strides[2], offset);
  }
}

TEST(Decomposition, AnAxisMapRenamesCoordinates) {
  Decomposition decomposition = decompose({4, 1, 1}, {{2, 1, 1}});
  decomposition.axis_map[0] = {0, 2, 1, 3};
  EXPECT_EQ(decomposition.global_index(0, 1), (Extents{2, 0, 0}));
  EXPECT_EQ(decomposition.global_index(1, 0), (Extents{1, 0, 0}));
}

TEST(Decomposition, NamesSayWhatARankHolds) {
  EXPECT_EQ(decompose({8, 8, 8}, {{1, 1, 1}}).name, "whole");
  EXPECT_EQ(decompose({8, 8, 8}, {{4, 1, 1}}).name, "x-slabs 4");
  EXPECT_EQ(decompose({8, 8, 8}, {{2, 3, 1}}).name, "z-pencils 2x3");
  EXPECT_EQ(decompose({8, 8, 8}, {{2, 1, 3}}).name, "y-pencils 2x3");
  EXPECT_EQ(decompose({8, 8, 8}, {{2, 2, 2}}).name, "blocks 2x2x2");
}

TEST(RealInPlaceOf, CutsWhereTheComplexDataIsCutAndPadsToItsPlace) {
  // 9 reals lie in the place of 5 complex elements, dealt 3 and 2: 6 reals, and 3 with a gap of one.
  const Decomposition complex = decompose({4, 3, 5}, {{2, 1, 2}});
  const Decomposition real = real_in_place_of(complex, 2, 9);
  EXPECT_EQ(real.shape, (Extents{4, 3, 9}));
  EXPECT_EQ(real.boxes[0], (Box{{0, 0, 0}, {2, 3, 6}}));
  EXPECT_EQ(real.boxes[1], (Box{{0, 0, 6}, {2, 3, 9}}));
  EXPECT_EQ(real.padding, (std::vector<Index>{0, 1, 0, 1}));
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_EQ(real.memory_volume(rank), 2 * complex.boxes[static_cast<std::size_t>(rank)].volume());
  EXPECT_EQ(real.strides(1), (Extents{12, 4, 1}));
  EXPECT_EQ(real.place(1, 2), 2);
  EXPECT_EQ(real.place(1, 3), 4);
  EXPECT_EQ(real.global_index(1, 3), (Extents{0, 1, 6}));
  EXPECT_EQ(complex.place(1, 3), 3);
}

TEST(RealInPlaceOf, MayLeaveARankNothingButPadding) {
  const Decomposition real = real_in_place_of(decompose({1, 1, 3}, {{1, 1, 3}}), 2, 4);
  EXPECT_TRUE(real.boxes[2].empty());
  EXPECT_EQ(real.memory_volume(2), 2);
}

TEST(TwoDimensionalGrids, AreAllFactorisationsMostSquareFirst) {
  const auto grids = two_dimensional_grids(12);
  ASSERT_EQ(grids.size(), 6U);
  EXPECT_EQ(grids[0], (Grid{{3, 4, 1}}));
  EXPECT_EQ(grids[1], (Grid{{4, 3, 1}}));
  EXPECT_EQ(grids[5], (Grid{{12, 1, 1}}));
  for (const Grid& grid : grids) EXPECT_EQ(grid.ranks(), 12);
  EXPECT_EQ(two_dimensional_grids(1), (std::vector<Grid>{Grid{}}));
  EXPECT_EQ(two_dimensional_grids(16)[0], (Grid{{4, 4, 1}}));
}

TEST(AllGrids, AreAllFactorisationsOfSoManyEntriesLargestFirst) {
  using Grids = std::vector<std::vector<int>>;
  EXPECT_EQ(all_grids(1, 2), (Grids{{1, 1}}));
  EXPECT_EQ(all_grids(6, 1), (Grids{{6}}));
  EXPECT_EQ(all_grids(6, 2), (Grids{{6, 1}, {3, 2}, {2, 3}, {1, 6}}));
  EXPECT_EQ(all_grids(4, 3), (Grids{{4, 1, 1}, {2, 2, 1}, {2, 1, 2}, {1, 4, 1}, {1, 2, 2}, {1, 1, 4}}));
  EXPECT_EQ(all_grids(7, 2), (Grids{{7, 1}, {1, 7}}));
  EXPECT_EQ(all_grids(36, 2).size(), 9U);
}

TEST(MostSquare, HasTheSmallestLargestEntryThenTheFewestInAll) {
  EXPECT_EQ(most_square(all_grids(16, 2)), (std::vector<int>{4, 4}));
  EXPECT_EQ(most_square(all_grids(6, 2)), (std::vector<int>{3, 2}));
  EXPECT_EQ(most_square(all_grids(2, 3)), (std::vector<int>{2, 1, 1}));
  EXPECT_EQ(most_square(all_grids(12, 3)), (std::vector<int>{3, 2, 2}));
  EXPECT_EQ(most_square(all_grids(8, 3)), (std::vector<int>{2, 2, 2}));
}

}  // namespace
}  // namespace fourscore
