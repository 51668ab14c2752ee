#include "core/grid.hpp"

#include <gtest/gtest.h>

namespace fourscore {
namespace {

TEST(Grid, RankAndCoordinatesAreInverse) {
  const Grid grid{{2, 3, 4}};
  ASSERT_EQ(grid.ranks(), 24);
  for (int rank = 0; rank < grid.ranks(); ++rank) EXPECT_EQ(grid.rank_of(grid.coordinates(rank)), rank);
  EXPECT_EQ(grid.coordinates(1), (std::array<int, 3>{0, 0, 1}));
  EXPECT_EQ(grid.coordinates(4), (std::array<int, 3>{0, 1, 0}));
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
