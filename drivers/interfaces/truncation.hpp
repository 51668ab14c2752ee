#pragma once
// Dealiasing as truncation: modes that the two-thirds rule drops are left out of what is exchanged.

#include "core/parameters.hpp"
#include "interfaces/pointwise_operator.hpp"

namespace fourscore {

/// A variant's parameter, for variants that can. The halves of a convolution have it too: forward leaves the kept modes
/// alone, along each axis those of index 0 to K and then n - K to n - 1, and backward takes these.
[[nodiscard]] inline Parameter truncation_parameter() {
  return {"truncation",
          "of a convolution with operator dealias-2/3: before-exchange: dropped modes are not exchanged",
          "none",
          {"none", "before-exchange"}};
}
[[nodiscard]] inline bool truncates(const Problem& problem) {
  return choice_parameter(problem, "truncation", truncation_parameter().values) != "none";
}

/// How many modes stay of an axis of n elements; the halved axis of real data has the lower half of them.
[[nodiscard]] constexpr Index kept_modes(Index n, bool halved) {
  const Index highest = (n - 1) / 3;  // the largest k with 3 k < n
  return halved ? highest + 1 : 2 * highest + 1;
}
[[nodiscard]] inline Extents kept_extents(const Problem& problem) {
  Extents kept = problem.extents();
  for (std::size_t a = 0; a < 3; ++a)
    kept[a] = kept_modes(kept[a], problem.kind == Kind::r2c && a == problem.last_axis());
  return kept;
}

/// The wave number at a coordinate of an axis of a spectrum of `held` extents, which may be truncated.
[[nodiscard]] inline Index wave_number_at(const Problem& problem, const Extents& held, std::size_t axis,
                                          Index coordinate) {
  const bool halved = problem.kind == Kind::r2c && axis == problem.last_axis();
  if (halved) return coordinate;
  return wave_number(coordinate, held[axis]);
}

}  // namespace fourscore
