#pragma once
// What fft_bench answers without MPI: other programs ask before they launch anything.

#include <nlohmann/json.hpp>

#include "core/problem.hpp"
#include "harness/provenance.hpp"

namespace fourscore::bench {

/// {"variants": [...], "exchanges": [...], "local_ffts": [...], "operators": [...]}, each with name, summary, citation,
/// available, reason; variants also takes_exchange, default_exchange, parameters and kinds, libraries their version.
[[nodiscard]] nlohmann::json list_entries();

/// Identity of machine and code with their hashes.
[[nodiscard]] nlohmann::json describe_identity();

/// {"point_id", "point" (normalised), "grid", "supported", "reason"}. grid: {"entries", "ranks"} of a process grid for
/// the point. Not supported: to be skipped, also for a grid that does not fit the ranks. Throws PointError for a point
/// that is unusable input.
[[nodiscard]] nlohmann::json about_point(const Point& point);

/// What the libraries of local transforms add to the identity of the code.
[[nodiscard]] LocalLibraries local_libraries();

}  // namespace fourscore::bench
