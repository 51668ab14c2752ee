#pragma once
// Where the volumetric method (eleftheriou2005) has its data: blocks, and the pencils along each axis. No MPI here.

#include <array>

#include "core/decomposition.hpp"

namespace fourscore {

/// How many pieces along each of two axes make `parts` pieces of a block that has these extents along them. Pieces are
/// as equal as they can be; where that leaves a choice, the preferred axis is cut into more. Where the paper's
/// condition holds (parts divide preferred * other) all pieces are equal.
struct Deal {
  int preferred = 1;
  int other = 1;
  bool operator==(const Deal&) const = default;
};
[[nodiscard]] Deal deal(Index preferred, Index other, int parts);

/// pencils[a] are whole along axis a: each line of the mesh along a deals the columns that its blocks form together to
/// its ranks. So blocks and pencils[a] differ within lines only, two kinds of pencils within planes.
struct VolumetricLayouts {
  Decomposition blocks;
  std::array<Decomposition, 3> pencils;
};
[[nodiscard]] VolumetricLayouts volumetric_layouts(const Extents& shape, const Grid& mesh);

/// The fewest 1-D transforms that an axis has: more ranks the method cannot use (N^2 for a cube).
[[nodiscard]] Index fewest_pencils(const Extents& shape);

/// The mesh with the fewest ranks that have nothing in some layout; among those the most cubic (least sum of extents),
/// among those the one with more ranks along earlier axes, whose messages are of longer runs.
[[nodiscard]] Grid most_cubic_mesh(const Extents& shape, int ranks);

}  // namespace fourscore
