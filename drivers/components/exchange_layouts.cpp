#include "components/exchange_layouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace fourscore::component {

namespace {

std::vector<int> members(const Grid& grid, Among among, int rank) {
  const auto place = grid.coordinates(rank);
  std::vector<int> ranks;
  for (int other = 0; other < grid.ranks(); ++other) {
    const auto its = grid.coordinates(other);
    if (among == Among::world || (among == Among::row && its[0] == place[0]) ||
        (among == Among::column && its[1] == place[1]))
      ranks.push_back(other);
  }
  return ranks;
}

struct Grids {
  Grid from;
  Grid to;
};

Grids grids_of(const Grid& grid, Among among) {
  const int p1 = grid.extents[0];
  const int p2 = grid.extents[1];
  switch (among) {
    case Among::row:
      return {{{p1, p2, 1}}, {{p1, 1, p2}}};
    case Among::column:
      return {{{p1, 1, p2}}, {{1, p1, p2}}};
    case Among::world:
      break;
  }
  return {{{p1 * p2, 1, 1}}, {{1, p1 * p2, 1}}};
}

}  // namespace

Among parse_among(const std::string& name) {
  if (name == "row") return Among::row;
  if (name == "column") return Among::column;
  if (name == "world") return Among::world;
  throw std::invalid_argument("no communicator is called " + name);
}

Index GroupExchange::bytes_between(int sender, int receiver) const {
  return intersect(from.box(sender), to.box(receiver)).volume() * element_bytes;
}

/// Blocks never grow from one rank to the next.
bool GroupExchange::even() const { return bytes_between(0, 0) == bytes_between(size() - 1, size() - 1); }

Index GroupExchange::array_bytes(int member) const {
  return std::max(from.box(member).volume(), to.box(member).volume()) * element_bytes;
}

int GroupExchange::place_of(int world_rank) const {
  const auto found = std::ranges::find(ranks, world_rank);
  if (found == ranks.end()) throw std::invalid_argument(fmt::format("rank {} is not of this group", world_rank));
  return static_cast<int>(found - ranks.begin());
}

GroupExchange even_exchange(const Grid& grid, Among among, int rank, Index bytes) {
  GroupExchange group;
  group.ranks = members(grid, among, rank);
  const Index elements = bytes / group.element_bytes;
  const Extents shape{group.size(), group.size(), elements};
  group.from = decompose(shape, Grid{{group.size(), 1, 1}});
  group.to = decompose(shape, Grid{{1, group.size(), 1}});
  return group;
}

GroupExchange pencil_exchange(const Extents& shape, const Grid& grid, Among among, int rank, Index element_bytes) {
  const Grids grids = grids_of(grid, among);
  GroupExchange group;
  group.ranks = members(grid, among, rank);
  RedistributionGroup redistribution =
      redistribution_group(decompose(shape, grids.from), decompose(shape, grids.to), rank);
  group.from = std::move(redistribution.from);
  group.to = std::move(redistribution.to);
  group.element_bytes = element_bytes;
  return group;
}

Reason too_small(const Extents& shape, const Grid& grid, Among among) {
  const Grids grids = grids_of(grid, among);
  for (const Grid& cut : {grids.from, grids.to})
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (cut.extents[axis] > shape[axis])
        return fmt::format("extent {} of the shape is cut in {} parts by a grid of {}x{}: some rank would have nothing",
                           shape[axis], cut.extents[axis], grid.extents[0], grid.extents[1]);
  return std::nullopt;
}

int group_size(const Grid& grid, Among among) {
  if (among == Among::world) return grid.ranks();
  return grid.extents[among == Among::row ? 1 : 0];
}

}  // namespace fourscore::component
