#include "core/grid.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace fourscore {

std::array<int, 3> Grid::coordinates(int rank) const {
  const int last = rank % extents[2];
  const int rest = rank / extents[2];
  return {rest / extents[1], rest % extents[1], last};
}

int Grid::rank_of(const std::array<int, 3>& coordinates) const {
  return (coordinates[0] * extents[1] + coordinates[1]) * extents[2] + coordinates[2];
}

std::vector<Grid> two_dimensional_grids(int ranks) {
  std::vector<Grid> result;
  for (int rows = 1; rows <= ranks; ++rows)
    if (ranks % rows == 0) result.push_back({{rows, ranks / rows, 1}});
  std::ranges::stable_sort(result, {}, [](const Grid& grid) { return std::max(grid.extents[0], grid.extents[1]); });
  return result;
}

std::vector<std::vector<int>> all_grids(int ranks, std::size_t entries) {
  if (entries == 1) return {{ranks}};
  std::vector<int> divisors;  // from the largest on
  for (int small = 1; small <= ranks / small; ++small)
    if (ranks % small == 0) divisors.push_back(ranks / small);
  for (std::size_t i = divisors.size(); i > 0; --i)
    if (const int small = ranks / divisors[i - 1]; small != divisors[i - 1]) divisors.push_back(small);
  std::vector<std::vector<int>> result;
  for (const int first : divisors)
    for (auto& rest : all_grids(ranks / first, entries - 1)) {
      rest.insert(rest.begin(), first);
      result.push_back(std::move(rest));
    }
  return result;
}

std::vector<int> most_square(const std::vector<std::vector<int>>& grids) {
  const auto key = [](const std::vector<int>& grid) {
    return std::pair(std::ranges::max(grid), std::accumulate(grid.begin(), grid.end(), 0));
  };
  return *std::ranges::min_element(grids, {}, key);
}

}  // namespace fourscore
