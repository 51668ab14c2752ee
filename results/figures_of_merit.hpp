#pragma once
// Figures of merit: lines "fom KEY VALUE" with fixed keys and units, which other tools read (docs/commands.md).

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace fourscore {

/// The lines of one record of a transform: status, verified, time_s and gflops of the median sample, time_min_s,
/// phase_fft_s and the like of the slowest rank (their medians), flags. One that is not ok has no time.
[[nodiscard]] std::string figures_of_merit(const nlohmann::json& record);

}  // namespace fourscore
