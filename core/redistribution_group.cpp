// Which ranks exchange elements with each other.

#include <algorithm>
#include <iterator>

#include "core/decomposition.hpp"

namespace fourscore {

namespace {

/// How many levels of both are the same, from the outermost on.
std::size_t common_levels(const AxisCut& a, const AxisCut& b) {
  if (a.pieces != b.pieces || a.dealt != b.dealt) return 0;
  const auto differ = std::ranges::mismatch(a.levels, b.levels);
  return static_cast<std::size_t>(differ.in1 - a.levels.begin());
}

}  // namespace

RedistributionGroup redistribution_group(const Decomposition& from, const Decomposition& to, int rank) {
  RedistributionGroup group{from, to, 0, rank};
  const bool by_grid = !from.boxes_ && !to.boxes_ && !from.pieces_ && !to.pieces_;
  const bool has_subgroups = by_grid && from.grid_ == to.grid_ && from.fixed_ == to.fixed_ &&
                             std::ranges::count(from.fixed_, Decomposition::any_coordinate) == std::ssize(from.fixed_);
  if (!has_subgroups) return group;
  std::vector<bool> moves(from.grid_.size(), false);
  for (std::size_t a = 0; a < 3; ++a) {
    const std::size_t same = common_levels(from.cuts_[a], to.cuts_[a]);
    for (const Decomposition* side : {&from, &to})
      for (std::size_t level = same; level < side->cuts_[a].levels.size(); ++level)
        for (const std::size_t d : side->cuts_[a].levels[level]) moves[d] = true;
  }
  const auto place = from.coordinates(rank);
  std::vector<int> fixed(moves.size(), Decomposition::any_coordinate);
  group.member = 0;
  for (std::size_t d = 0; d < moves.size(); ++d) {
    if (moves[d]) {
      group.member = group.member * from.grid_[d] + place[d];
    } else {
      group.first += place[d] * from.rank_stride(d);
      fixed[d] = place[d];
    }
  }
  group.from.fixed_ = fixed;
  group.to.fixed_ = fixed;
  return group;
}

}  // namespace fourscore
