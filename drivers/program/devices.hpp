#pragma once
// The devices on which the ranks of a point compute, for its record.

#include <mpi.h>

#include <nlohmann/json.hpp>

#include "program/resolve.hpp"

namespace fourscore::bench {

/// One entry for each kind of device, with how many ranks compute on such: what it is, how it is driven, and the state
/// now of the one of the lowest of these ranks. Empty where the variant computes on none. Collective; on rank 0.
[[nodiscard]] nlohmann::json describe_devices(MPI_Comm comm, const ResolvedPoint& resolved);

/// Adds what describe_devices() said before and after the measurement to the record.
void add_devices(nlohmann::json& record, nlohmann::json before, const nlohmann::json& after);

}  // namespace fourscore::bench
