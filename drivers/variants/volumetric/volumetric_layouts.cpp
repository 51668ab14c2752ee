#include "variants/volumetric/volumetric_layouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

namespace fourscore {

namespace {

Index ceiling(Index n, int parts) { return (n + parts - 1) / parts; }

/// The process grid has two dimensions for each axis of the mesh, so that a line along an axis can be dealt across the
/// two others: dimension 2a counts the pieces across the one that pencils along axis a prefer to cut.
struct Mesh {
  std::array<Deal, 3> deals;

  [[nodiscard]] std::vector<int> grid() const {
    return {deals[0].preferred, deals[0].other, deals[1].preferred, deals[1].other, deals[2].preferred, deals[2].other};
  }
  /// Blocks along the axis, one for each place of the mesh.
  [[nodiscard]] static AxisCut::Level places(std::size_t axis) { return {2 * axis, 2 * axis + 1}; }
};

/// The axis whose blocks pencils along `whole` prefer to cut.
std::size_t preferred_axis(std::size_t whole) { return whole == 1 ? 0 : 1; }

/// The line's ranks deal the columns along `whole`, by preference by cutting their blocks across the preferred axis.
Decomposition pencils_along(std::size_t whole, const Extents& shape, const Mesh& mesh, const std::string& blocks) {
  constexpr std::array<char, 3> letters{'x', 'y', 'z'};
  const std::size_t preferred = preferred_axis(whole);
  const std::size_t other = 3 - whole - preferred;
  std::array<AxisCut, 3> cuts;
  cuts[preferred].levels = {Mesh::places(preferred), {2 * whole}};
  cuts[other].levels = {Mesh::places(other), {2 * whole + 1}};
  return {shape, mesh.grid(), std::move(cuts), fmt::format("{}-pencils in {}", letters[whole], blocks)};
}

Index max_idle_ranks(const VolumetricLayouts& layouts) {
  return std::max({layouts.blocks.idle_ranks(), layouts.pencils[0].idle_ranks(), layouts.pencils[1].idle_ranks(),
                   layouts.pencils[2].idle_ranks()});
}

}  // namespace

Deal deal(Index preferred, Index other, int parts) {
  Deal best;
  Index least = std::numeric_limits<Index>::max();
  for (int across = 1; across <= parts; ++across) {
    if (parts % across != 0) continue;
    const Deal candidate{parts / across, across};
    const Index largest = ceiling(preferred, candidate.preferred) * ceiling(other, candidate.other);
    if (largest >= least) continue;
    least = largest;
    best = candidate;
  }
  return best;
}

/// Axes cut by two kinds of pencils in turn differ, so that each rank of a plane gives each other one as much:
/// z-pencils cut y, y-pencils x, x-pencils y again. x and y are preferred to z because runs in memory then stay long.
VolumetricLayouts volumetric_layouts(const Extents& shape, const Grid& mesh) {
  const auto block = [&](std::size_t axis) { return ceiling(shape[axis], mesh.extents[axis]); };
  Mesh places;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t preferred = preferred_axis(axis);
    places.deals[axis] = deal(block(preferred), block(3 - axis - preferred), mesh.extents[axis]);
  }
  VolumetricLayouts result;
  std::array<AxisCut, 3> cuts;
  for (std::size_t axis = 0; axis < 3; ++axis) cuts[axis].levels = {Mesh::places(axis)};
  result.blocks = Decomposition(shape, places.grid(), std::move(cuts), decompose(shape, mesh).name);
  for (std::size_t axis = 0; axis < 3; ++axis)
    result.pencils[axis] = pencils_along(axis, shape, places, result.blocks.name);
  return result;
}

Index fewest_pencils(const Extents& shape) {
  return std::min({shape[0] * shape[1], shape[0] * shape[2], shape[1] * shape[2]});
}

Grid most_cubic_mesh(const Extents& shape, int ranks) {
  using Key = std::tuple<Index, int, int, int>;
  Grid best{{ranks, 1, 1}};
  Key least{std::numeric_limits<Index>::max(), 0, 0, 0};
  for (int x = 1; x <= ranks; ++x) {
    if (ranks % x != 0) continue;
    for (int y = 1; y <= ranks / x; ++y) {
      if (ranks / x % y != 0) continue;
      const Grid mesh{{x, y, ranks / x / y}};
      const Key key{max_idle_ranks(volumetric_layouts(shape, mesh)), x + y + mesh.extents[2], -x, -y};
      if (key >= least) continue;
      least = key;
      best = mesh;
    }
  }
  return best;
}

}  // namespace fourscore
