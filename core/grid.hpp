#pragma once
// Process grids, without MPI.

#include <array>
#include <cstddef>
#include <vector>

namespace fourscore {

/// Cartesian process grid, rank = row-major of the coordinates (last axis fastest).
struct Grid {
  std::array<int, 3> extents{1, 1, 1};

  [[nodiscard]] int ranks() const { return extents[0] * extents[1] * extents[2]; }
  [[nodiscard]] std::array<int, 3> coordinates(int rank) const;
  [[nodiscard]] int rank_of(const std::array<int, 3>& coordinates) const;
  bool operator==(const Grid&) const = default;
};

/// All grids of the given number of ranks with extents[2] == 1, most square first: candidates for pencils.
[[nodiscard]] std::vector<Grid> two_dimensional_grids(int ranks);

/// What process grids a problem can have: of so many entries, for so many ranks.
struct GridRoom {
  std::size_t entries = 1;
  int ranks = 1;
};

/// All process grids of so many entries with a product of `ranks`, as Problem::grid has them: P x 1 first, 1 x P last.
[[nodiscard]] std::vector<std::vector<int>> all_grids(int ranks, std::size_t entries);
/// The one of them with the smallest largest entry, then the smallest sum; the first of several. `grids` is not empty.
[[nodiscard]] std::vector<int> most_square(const std::vector<std::vector<int>>& grids);

}  // namespace fourscore
