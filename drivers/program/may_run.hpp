#pragma once
// May this run? Every door between a point and its measurement, in the order in which they are asked.

#include <mpi.h>

#include <optional>

#include "core/refusal.hpp"
#include "program/options.hpp"
#include "program/resolve.hpp"

namespace fourscore::bench {

/// What the point alone tells. Calls no MPI. Throws PointError where the number of instances cannot be used.
[[nodiscard]] std::optional<Refusal> may_run(const ResolvedPoint& resolved);

/// What the launch tells beside: the MPI's thread level, the nodes of its ranks, their memory. Collective, with the
/// same answer on all ranks; throws LeaveTogether.
[[nodiscard]] std::optional<Refusal> may_run_here(MPI_Comm comm, const ResolvedPoint& resolved, CheckExtent extent);

}  // namespace fourscore::bench
