#pragma once
// What the pencil methods share: their three layouts, and which P1 x P2 grid of ranks deals them where the problem
// leaves it open.

#include <algorithm>
#include <optional>
#include <vector>

#include "chain/transform_chain.hpp"

namespace fourscore {

/// Whether every rank has elements in all three layouts.
[[nodiscard]] inline bool fits_pencils(const Extents& n, const Grid& grid) {
  return grid.extents[0] <= std::min(n[0], n[1]) && grid.extents[1] <= std::min(n[1], n[2]);
}

/// z-pencils, y-pencils and x-pencils, each transformed along its own axis: the stages of a forward transform.
[[nodiscard]] inline std::vector<ChainStage> pencil_stages(const Extents& shape, const Grid& grid) {
  const int rows = grid.extents[0];
  const int columns = grid.extents[1];
  return {{decompose(shape, Grid{{rows, columns, 1}}), {2}},
          {decompose(shape, Grid{{rows, 1, columns}}), {1}},
          {decompose(shape, Grid{{1, rows, columns}}), {0}}};
}

/// The problem's grid if `fits` accepts it; else, where the problem names none, the first that fits of: P x 1, which
/// needs one exchange instead of two and whose pieces are whole planes, 1 x P, then the most square grids, whose
/// messages are fewest. Throws InputError for a grid that is none of this many ranks.
template <class Fits>
[[nodiscard]] std::optional<Grid> pencil_grid(const Problem& problem, int ranks, const Fits& fits) {
  require_grid(problem, ranks, 2);
  std::vector<Grid> candidates;
  if (problem.grid.empty()) {
    candidates = {{{ranks, 1, 1}}, {{1, ranks, 1}}};
    const auto others = two_dimensional_grids(ranks);
    candidates.insert(candidates.end(), others.begin(), others.end());
  } else {
    candidates = {{{problem.grid[0], problem.grid[1], 1}}};
  }
  for (const Grid& grid : candidates)
    if (fits(grid)) return grid;
  return std::nullopt;
}

}  // namespace fourscore
