#include "variants/volumetric/volumetric_layouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

namespace fourscore {

namespace {

Index ceiling(Index n, int parts) { return (n + parts - 1) / parts; }

void cut(Box& box, std::size_t axis, int parts, int part) {
  const Range range = block_range(box.high[axis] - box.low[axis], parts, part);
  box.high[axis] = box.low[axis] + range.high;
  box.low[axis] += range.low;
}

/// The line's ranks deal the columns along `whole`, by preference by cutting their blocks across `preferred`.
Decomposition pencils_along(std::size_t whole, std::size_t preferred, const Decomposition& blocks, const Grid& mesh) {
  constexpr std::array<char, 3> letters{'x', 'y', 'z'};
  const std::size_t other = 3 - whole - preferred;
  Decomposition result = blocks;
  result.name = fmt::format("{}-pencils in {}", letters[whole], blocks.name);
  for (int rank = 0; rank < mesh.ranks(); ++rank) {
    Box& box = result.boxes[static_cast<std::size_t>(rank)];
    const Extents block = box.extents();
    const Deal pieces = deal(block[preferred], block[other], mesh.extents[whole]);
    const int piece = mesh.coordinates(rank)[whole];
    cut(box, preferred, pieces.preferred, piece / pieces.other);
    cut(box, other, pieces.other, piece % pieces.other);
    box.low[whole] = 0;
    box.high[whole] = blocks.shape[whole];
  }
  return result;
}

int max_idle_ranks(const VolumetricLayouts& layouts) {
  const auto idle = [](const Decomposition& layout) {
    return static_cast<int>(std::ranges::count_if(layout.boxes, &Box::empty));
  };
  return std::max({idle(layouts.blocks), idle(layouts.pencils[0]), idle(layouts.pencils[1]), idle(layouts.pencils[2])});
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
  VolumetricLayouts result;
  result.blocks = decompose(shape, mesh);
  result.pencils = {pencils_along(0, 1, result.blocks, mesh), pencils_along(1, 0, result.blocks, mesh),
                    pencils_along(2, 1, result.blocks, mesh)};
  return result;
}

Index fewest_pencils(const Extents& shape) {
  return std::min({shape[0] * shape[1], shape[0] * shape[2], shape[1] * shape[2]});
}

Grid most_cubic_mesh(const Extents& shape, int ranks) {
  using Key = std::tuple<int, int, int, int>;
  Grid best{{ranks, 1, 1}};
  Key least{std::numeric_limits<int>::max(), 0, 0, 0};
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
