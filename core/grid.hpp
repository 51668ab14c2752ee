#pragma once
// Process grids and decompositions: which rank holds which elements, for any rank, without MPI.

#include <array>
#include <string>
#include <vector>

#include "core/box.hpp"

namespace fourscore {

/// Cartesian process grid, rank = row-major of the coordinates (last axis fastest).
struct Grid {
  std::array<int, 3> extents{1, 1, 1};

  [[nodiscard]] int ranks() const { return extents[0] * extents[1] * extents[2]; }
  [[nodiscard]] std::array<int, 3> coordinates(int rank) const;
  [[nodiscard]] int rank_of(const std::array<int, 3>& coordinates) const;
  bool operator==(const Grid&) const = default;
};

/// Elements of one global array held by each rank. Rank r holds boxes[r] densely, stored with axis order[0] slowest
/// and order[2] fastest. Where a method permutes indices along an axis, axis_map[a][c] is the global index at
/// coordinate c of axis a (empty: the identity); boxes are in coordinates. Real data that shares its place with complex
/// data is the one exception to dense: rows along padded_axis, fastest in memory but for axes of one element, are
/// followed by padding[rank] elements that mean nothing.
struct Decomposition {
  Extents shape{1, 1, 1};
  std::vector<Box> boxes;
  std::array<int, 3> order{0, 1, 2};
  std::array<std::vector<Index>, 3> axis_map;
  std::string name{};            ///< for people: "z-pencils 2x2"
  std::vector<Index> padding{};  ///< by rank; empty: none
  std::size_t padded_axis = 2;

  [[nodiscard]] int ranks() const { return static_cast<int>(boxes.size()); }
  /// Element strides of rank's local array along axes 0, 1, 2.
  [[nodiscard]] Extents strides(int rank) const;
  /// Global index of local element number `offset` (0 <= offset < boxes[rank].volume()), in memory order.
  [[nodiscard]] Extents global_index(int rank, Index offset) const;
  /// Where local element number `offset` lies: `offset` itself, but for padding before it.
  [[nodiscard]] Index place(int rank, Index offset) const;
  /// Elements of rank's local array, padding among them.
  [[nodiscard]] Index memory_volume(int rank) const;
  [[nodiscard]] Index max_volume() const;  ///< largest volume over ranks
};

/// Deal `shape` to a grid: axis a is cut in grid.extents[a] blocks (block_range). Boxes may be empty.
[[nodiscard]] Decomposition decompose(const Extents& shape, const Grid& grid);

/// The real data, n elements along `axis`, that lies in the place of complex data: two reals to a complex element.
/// Where `axis` is cut the cuts are the same; reals beyond n are padding. `axis` is the fastest of `complex` in memory,
/// but for axes of one element, and complex.shape[axis] is n / 2 + 1.
[[nodiscard]] Decomposition real_in_place_of(const Decomposition& complex, std::size_t axis, Index n);

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
