#pragma once
// What the script of a job says beside the scheduler's own lines.

#include <string>
#include <vector>

#include "jobscripts/campaigns/campaign.hpp"
#include "jobscripts/jobs/job_folder.hpp"
#include "jobscripts/schedulers/scheduler.hpp"

namespace fourscore {

/// Lines of shell that set what fourscore itself must find in a job as it found it here: the interconnect of the
/// machine file, and the folders of programs that the environment names.
[[nodiscard]] std::vector<std::string> environment_lines(const Machine& machine);

/// The request for one of a campaign's jobs: it runs `fourscore run --job`.
[[nodiscard]] JobRequest job_request(const Campaign& campaign, const Archive& archive, const Machine& machine,
                                     const JobFolder& folder, const JobDescription& job);

}  // namespace fourscore
