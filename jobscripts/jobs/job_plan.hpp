#pragma once
// Launches that a campaign lacks, cut into jobs.

#include <vector>

#include "jobscripts/campaigns/runner.hpp"
#include "jobscripts/jobs/estimates.hpp"
#include "jobscripts/jobs/job_folder.hpp"

namespace fourscore {

/// What a job takes beside its launches: to begin, to read what is done, and what it leaves unused at its end.
inline constexpr double job_overhead_s = 90.0;

/// Jobs of one number of nodes each, fewest nodes first, each with launches in the order of the schedule as long as
/// they fit `time_limit_s` with job_overhead_s. A job asks for no more time than its launches are expected to take, in
/// whole minutes. Throws InputError naming the point where one launch alone is too long.
[[nodiscard]] std::vector<JobDescription> plan_jobs(const Campaign& campaign, const std::vector<PlannedLaunch>& lacking,
                                                    const Estimates& estimates, const Machine& machine,
                                                    double time_limit_s);

}  // namespace fourscore
