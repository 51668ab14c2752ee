#pragma once
// Which P1 x P2 grid of ranks deals three states of pencils, where the problem leaves it open.

#include <optional>

#include "core/transform_chain.hpp"

namespace fourscore {

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
