#pragma once
// Which launches one MPI job makes one after another (docs/measuring.md, "Launches in one job").

#include <cstddef>
#include <string>
#include <vector>

#include "jobscripts/campaigns/runner.hpp"

namespace fourscore {

/// Nothing, or why each launch of the campaign takes an MPI job of its own: several cannot share one.
[[nodiscard]] Reason why_one_launch_a_job(const Campaign& campaign, const RunSettings& settings);

/// planned[from], and of those behind it in the same round, which are of other points, as many as
/// settings.launches_per_job and max_launches leave room for, `launched` being over. All are of fft_bench, are not
/// counted, and run on the same ranks, nodes and threads.
[[nodiscard]] std::vector<PlannedLaunch> launches_of_job(const Campaign& campaign, const RunSettings& settings,
                                                         const std::vector<PlannedLaunch>& planned, std::size_t from,
                                                         std::size_t launched);

}  // namespace fourscore
