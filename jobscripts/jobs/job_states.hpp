#pragma once
// What the scheduler says of a campaign's jobs, asked seldom and all at once.

#include <string>
#include <vector>

#include "jobscripts/jobs/job_folder.hpp"

namespace fourscore {

/// A job, and what became of it.
struct KnownJob {
  std::string campaign;
  JobFolder folder;
  std::string id;  ///< the scheduler's; empty: it was never submitted
  JobState state;
  [[nodiscard]] bool lives() const { return state.phase != JobPhase::ended; }
};

struct KnownJobs {
  std::vector<KnownJob> jobs;
  double age_s = 0;       ///< how old the scheduler's answer is about those that live
  std::string problem{};  ///< why a scheduler did not answer; then the states are the last known
};

/// How seldom schedulers are asked.
inline constexpr double query_interval_s = 30.0;

/// The jobs of these campaigns. Those that have not ended are asked for in one query a scheduler, and what it says is
/// kept in the archive: within `at_most_every_s` seconds it is not asked again. Ends are kept for good. Never throws
/// because a scheduler is silent.
[[nodiscard]] KnownJobs known_jobs(const Archive& archive, const std::vector<std::string>& campaigns,
                                   double at_most_every_s = query_interval_s);

/// The next known_jobs() asks again, whatever was said last: jobs were cancelled.
void forget_states(const Archive& archive);

}  // namespace fourscore
