#pragma once
// What a variant says before there is a plan: which problems and process grids it takes, and what the papers' formulas
// count. Calls no MPI.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interfaces/variant.hpp"

namespace fourscore {

/// Nothing, or why no chain can solve the problem: its number of extents.
[[nodiscard]] Reason chain_limits(const Problem& problem, std::size_t min_extents, std::size_t max_extents);
/// Throws InputError unless problem.grid is empty or has `entries` entries whose product is `ranks`.
void require_grid(const Problem& problem, int ranks, std::size_t entries);

/// Nothing, or why `variant` cannot cut the first axis, and the second, among all ranks. Throws InputError as
/// require_grid() with one entry.
[[nodiscard]] Reason slab_limits(const Problem& problem, int ranks, std::string_view variant);

/// Whether every rank of a P1 x P2 grid has elements in z-, y- and x-pencils of the problem's complex data.
[[nodiscard]] bool fits_pencils(const Problem& problem, const Grid& grid);
/// The problem's grid if `fits` accepts it; else, where the problem names none, the first that fits of: P x 1, which
/// needs one exchange instead of two and whose pieces are whole planes, 1 x P, then the most square grids, whose
/// messages are fewest. Throws InputError for a grid that is none of this many ranks.
[[nodiscard]] std::optional<Grid> pencil_grid(const Problem& problem, int ranks,
                                              const std::function<bool(const Grid&)>& fits);
/// With fits_pencils().
[[nodiscard]] std::optional<Grid> pencil_grid(const Problem& problem, int ranks);

/// Nothing, or why `variant` has no such grid: it takes those that pencil_grid() gives.
[[nodiscard]] Reason pencil_limits(const Problem& problem, int ranks, std::string_view variant);

/// Payload bytes and messages to other ranks when each rank deals its share of the complex elements evenly over a group
/// of `group` ranks, itself among them.
[[nodiscard]] Cost even_exchange_cost(const Problem& problem, int ranks, int group);
/// Flops of the whole transform, and even_exchange_cost() summed over exchanges among so many ranks each.
[[nodiscard]] Cost cost_of_even_exchanges(const Problem& problem, int ranks, const std::vector<int>& groups);
/// Any slabs: one exchange of N/P elements a rank, of which 1/P stay; the way back to natural order is another.
[[nodiscard]] Cost slab_cost(const Problem& problem, int ranks);
/// The cost of any pencils (czechowski2012): equation 1 for the flops, and for the exchanges the n^3/P words each of
/// equation 3, less what stays on the rank: among P2 ranks in a row, among P1 in a column. The way back to natural
/// order doubles them.
[[nodiscard]] Cost pencil_cost(const Problem& problem, int ranks, const Grid& grid);

}  // namespace fourscore
