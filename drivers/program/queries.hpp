#pragma once
// What fft_bench answers without MPI: other programs ask before they launch anything.

#include <iosfwd>
#include <nlohmann/json.hpp>

#include "harness/provenance.hpp"

namespace fourscore::bench {

/// {"variants": [...], "exchanges": [...], "local_ffts": [...]}, each with name, summary, citation, available, reason;
/// variants also takes_exchange, default_exchange, parameters and kinds, libraries their version.
[[nodiscard]] nlohmann::json list_entries();

/// Identity of machine and code with their hashes.
[[nodiscard]] nlohmann::json describe_identity();

/// Reads one point (JSON) a line and writes one answer a line: {"point_id", "point" (normalised), "grid",
/// "supported", "reason", "error", "key"}. grid: {"entries", "ranks"} of a process grid for the point. error: the point
/// is unusable input (then there is no point_id, and where one key of the point is to blame, "key" names it); not
/// supported: to be skipped, also for a grid that does not fit the ranks.
void check_points(std::istream& in, std::ostream& out);

/// What the libraries of local transforms add to the identity of the code.
[[nodiscard]] LocalLibraries local_libraries();

}  // namespace fourscore::bench
