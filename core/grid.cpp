#include "core/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace fourscore {

namespace {

std::string name_of(const Grid& grid) {
  constexpr std::array<char, 3> letters{'x', 'y', 'z'};
  std::vector<std::size_t> cut;
  for (std::size_t a = 0; a < 3; ++a)
    if (grid.extents[a] > 1) cut.push_back(a);
  std::string sizes;
  for (const std::size_t a : cut) sizes += fmt::format("{}{}", sizes.empty() ? "" : "x", grid.extents[a]);
  if (cut.empty()) return "whole";
  if (cut.size() == 1) return fmt::format("{}-slabs {}", letters[cut[0]], sizes);
  if (cut.size() == 3) return "blocks " + sizes;
  return fmt::format("{}-pencils {}", letters[3 - cut[0] - cut[1]], sizes);
}

Index padding_of(const Decomposition& layout, int rank) {
  return layout.padding.empty() ? 0 : layout.padding.at(static_cast<std::size_t>(rank));
}

}  // namespace

std::array<int, 3> Grid::coordinates(int rank) const {
  const int last = rank % extents[2];
  const int rest = rank / extents[2];
  return {rest / extents[1], rest % extents[1], last};
}

int Grid::rank_of(const std::array<int, 3>& coordinates) const {
  return (coordinates[0] * extents[1] + coordinates[1]) * extents[2] + coordinates[2];
}

Extents Decomposition::strides(int rank) const {
  const Extents extents = boxes.at(static_cast<std::size_t>(rank)).extents();
  Extents result{};
  Index stride = 1;
  for (std::size_t position = 3; position-- > 0;) {
    const auto axis = static_cast<std::size_t>(order[position]);
    result[axis] = stride;
    stride *= extents[axis] + (axis == padded_axis ? padding_of(*this, rank) : 0);
  }
  return result;
}

Extents Decomposition::global_index(int rank, Index offset) const {
  const Box& box = boxes.at(static_cast<std::size_t>(rank));
  const Extents extents = box.extents();
  Extents result{};
  for (std::size_t position = 3; position-- > 0;) {
    const auto axis = static_cast<std::size_t>(order[position]);
    const Index coordinate = box.low[axis] + offset % extents[axis];
    offset /= extents[axis];
    result[axis] = axis_map[axis].empty() ? coordinate : axis_map[axis].at(static_cast<std::size_t>(coordinate));
  }
  return result;
}

Index Decomposition::place(int rank, Index offset) const {
  const Index gap = padding_of(*this, rank);
  if (gap == 0) return offset;
  return offset + offset / boxes.at(static_cast<std::size_t>(rank)).extents()[padded_axis] * gap;
}

Index Decomposition::memory_volume(int rank) const {
  Extents extents = boxes.at(static_cast<std::size_t>(rank)).extents();
  extents[padded_axis] += padding_of(*this, rank);
  return extents[0] * extents[1] * extents[2];
}

Index Decomposition::max_volume() const {
  Index result = 0;
  for (const Box& box : boxes) result = std::max(result, box.volume());
  return result;
}

Decomposition decompose(const Extents& shape, const Grid& grid) {
  Decomposition result;
  result.shape = shape;
  result.name = name_of(grid);
  result.boxes.reserve(static_cast<std::size_t>(grid.ranks()));
  for (int rank = 0; rank < grid.ranks(); ++rank) {
    const auto coordinates = grid.coordinates(rank);
    Box box;
    for (std::size_t a = 0; a < 3; ++a) {
      const Range range = block_range(shape[a], grid.extents[a], coordinates[a]);
      box.low[a] = range.low;
      box.high[a] = range.high;
    }
    result.boxes.push_back(box);
  }
  return result;
}

Decomposition real_in_place_of(const Decomposition& complex, std::size_t axis, Index n) {
  Decomposition result = complex;
  result.shape[axis] = n;
  result.name += ", real";
  result.padded_axis = axis;
  for (Box& box : result.boxes) {
    const Index room = 2 * (box.high[axis] - box.low[axis]);
    box.low[axis] = std::min(2 * box.low[axis], n);
    box.high[axis] = std::min(2 * box.high[axis], n);
    result.padding.push_back(room - (box.high[axis] - box.low[axis]));
  }
  return result;
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
