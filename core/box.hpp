#pragma once
// Index boxes: plain values, no MPI.

#include <array>
#include <cstdint>

namespace fourscore {

using Index = std::int64_t;
/// Three extents or one index triple; shapes of fewer extents are padded with trailing ones.
using Extents = std::array<Index, 3>;

/// Half-open box [low, high) of grid indices. Empty when any high <= low.
struct Box {
  Extents low{0, 0, 0};
  Extents high{0, 0, 0};

  [[nodiscard]] Extents extents() const;  ///< high - low, at least 0 in every axis
  [[nodiscard]] Index volume() const;     ///< number of elements
  [[nodiscard]] bool empty() const { return volume() == 0; }
  bool operator==(const Box&) const = default;
};

/// Elements in both boxes; a default Box when there are none.
[[nodiscard]] Box intersect(const Box& a, const Box& b);

/// Half-open range of part `part` when n elements are dealt to `parts` parts; the first n % parts parts get one more.
struct Range {
  Index low = 0;
  Index high = 0;
  [[nodiscard]] Index size() const { return high - low; }
  bool operator==(const Range&) const = default;
};
[[nodiscard]] Range block_range(Index n, Index parts, Index part);
/// The same of the elements of `whole`: a cut within a cut, which never leaves it.
[[nodiscard]] Range block_range(const Range& whole, Index parts, Index part);
/// The part of n elements that has this index.
[[nodiscard]] Index block_number(Index n, Index parts, Index index);

}  // namespace fourscore
