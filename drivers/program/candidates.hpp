#pragma once
// What a tuned point leaves to choose: the exchanges and process grids that its launch tries. Calls no MPI.

#include <cstddef>
#include <optional>
#include <vector>

#include "core/grid.hpp"
#include "core/refusal.hpp"
#include "program/resolve.hpp"

namespace fourscore::bench {

inline constexpr std::size_t max_tuned_grids = 16;
inline constexpr std::size_t max_candidates = 64;

/// A point, who measures it, and whether it may run. The first candidate stands for a tuned point, which may run where
/// one of them may.
struct Choice {
  ResolvedPoint resolved;
  std::optional<Refusal> refusal;
  std::vector<ResolvedPoint> candidates{};  ///< that may run; none of a point that is not tuned
};

/// resolve_point() and may_run(). A tuned exchange has as candidates all that read the point's parameters, the
/// variant's own first. A tuned grid has those of grids_to_try() on which one of the exchanges may run: max_tuned_grids
/// of them, fewer where there would be more than max_candidates in all. Throws as those two.
[[nodiscard]] Choice resolve_choice(const Point& point);

/// All grids of so many entries: P x 1 and 1 x P, which need one exchange less, then the most square first.
[[nodiscard]] std::vector<std::vector<int>> grids_to_try(const GridRoom& room);

/// What process grids there are for the point.
[[nodiscard]] GridRoom room_of_grid(const ResolvedPoint& resolved);

}  // namespace fourscore::bench
