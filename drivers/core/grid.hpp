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
/// coordinate c of axis a (empty: the identity); boxes are in coordinates.
struct Decomposition {
  Extents shape{1, 1, 1};
  std::vector<Box> boxes;
  std::array<int, 3> order{0, 1, 2};
  std::array<std::vector<Index>, 3> axis_map;
  std::string name;  ///< for people: "z-pencils 2x2"

  [[nodiscard]] int ranks() const { return static_cast<int>(boxes.size()); }
  /// Element strides of rank's local array along axes 0, 1, 2.
  [[nodiscard]] Extents strides(int rank) const;
  /// Global index of the local element at `offset` (0 <= offset < boxes[rank].volume()).
  [[nodiscard]] Extents global_index(int rank, Index offset) const;
  [[nodiscard]] Index max_volume() const;  ///< largest volume over ranks
};

/// Deal `shape` to a grid: axis a is cut in grid.extents[a] blocks (block_range). Boxes may be empty.
[[nodiscard]] Decomposition decompose(const Extents& shape, const Grid& grid);

/// All grids of the given number of ranks with extents[2] == 1, most square first: candidates for pencils.
[[nodiscard]] std::vector<Grid> two_dimensional_grids(int ranks);

}  // namespace fourscore
