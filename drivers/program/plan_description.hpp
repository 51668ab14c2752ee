#pragma once
// What a record says of the plans: their times, memory, declared messages and local FFTs, by rank.

#include <mpi.h>

#include "harness/instances.hpp"
#include "harness/provenance.hpp"
#include "program/measurement.hpp"
#include "program/resolve.hpp"
#include "program/verifiers.hpp"

namespace fourscore::bench {

/// Collective. Fills `result` on rank 0 with what every rank tells of its plans; `plan_s` and `resident` are this
/// rank's.
void describe_plans(MPI_Comm comm, Instances& instances, const Verifiers& verifiers, const ResolvedPoint& resolved,
                    double plan_s, const ResidentMemory& resident, Measurement& result);

}  // namespace fourscore::bench
