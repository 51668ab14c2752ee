#pragma once
// Who exchanges what with whom in alltoall_bench: geometry, for any rank, without MPI.

#include <string>
#include <vector>

#include "core/decomposition.hpp"
#include "core/refusal.hpp"

namespace fourscore::component {

/// The ranks of a P1 x P2 grid that exchange with one another: those of a row (P2 of them), of a column (P1), or all.
enum class Among { row, column, world };

[[nodiscard]] Among parse_among(const std::string& name);

/// One group of ranks, and what each holds before and after.
struct GroupExchange {
  std::vector<int> ranks;  ///< in the world, ascending
  Decomposition from;      ///< over `ranks`
  Decomposition to;
  Index element_bytes = 8;

  /// The bytes of what one member holds before and another after, by their places in `ranks`.
  [[nodiscard]] Index bytes_between(int sender, int receiver) const;
  /// All messages between two members have the same size.
  [[nodiscard]] bool even() const;
  /// The bytes of the larger of this member's two arrays.
  [[nodiscard]] Index array_bytes(int member) const;
  [[nodiscard]] int size() const { return static_cast<int>(ranks.size()); }
  [[nodiscard]] int place_of(int world_rank) const;
};

/// The group of a rank. `bytes` go from each member to each, itself among them; a multiple of 8.
[[nodiscard]] GroupExchange even_exchange(const Grid& grid, Among among, int rank, Index bytes);

/// The exchange of the pencil method (czechowski2012, section 3): among a row from z-pencils to y-pencils, among a
/// column from y-pencils to x-pencils; among all ranks that of slabs, from slabs along the first axis to slabs along
/// the second.
[[nodiscard]] GroupExchange pencil_exchange(const Extents& shape, const Grid& grid, Among among, int rank,
                                            Index element_bytes);
/// Nothing, or that some rank would have no element.
[[nodiscard]] Reason too_small(const Extents& shape, const Grid& grid, Among among);

/// How many ranks a group has.
[[nodiscard]] int group_size(const Grid& grid, Among among);

}  // namespace fourscore::component
