#pragma once
// A transform on some of the ranks that it is given: for small grids all of them are too many (the last limitation that
// lee2018 names, chapter 6). The data is given and left on all ranks.

#include <memory>

#include "interfaces/variant.hpp"

namespace fourscore {

/// How many of so many ranks transform: what the problem asks for, where there are more than that, else all of them;
/// auto_ranks: by a model of round numbers that reads the variant's cost, the fastest of all ranks, their half, a
/// quarter and so on; with a grid, as many as it has places. The same for each direction. Calls no MPI.
[[nodiscard]] int active_ranks_of(const Variant& variant, const Problem& problem, int ranks);

/// The active rank number `number` of `active` is rank number * ranks / active, rounded down: evenly spread.
[[nodiscard]] bool is_active(int rank, int active, int ranks);

/// `variant`, which must outlive it, on active_ranks_of() ranks. Its plans have the layouts of the variant's own plans
/// on all ranks, or, where the variant cannot use so many, slabs of the first axis, of which some may be empty. The
/// point's exchange moves the data to the active ranks and back, alltoallv where the variant takes none. Complex data
/// alone, whose layouts are one box a rank in the order of their indices.
[[nodiscard]] std::unique_ptr<Variant> on_active_ranks(const Variant& variant);

}  // namespace fourscore
