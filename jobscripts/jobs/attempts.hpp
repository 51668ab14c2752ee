#pragma once
// Launches that were under way when their job ended, and whether they may be tried again.

#include <map>
#include <string>
#include <vector>

#include "core/refusal.hpp"
#include "jobscripts/jobs/job_states.hpp"

namespace fourscore {

/// Ends of jobs during which a launch was under way and left no record.
struct Attempts {
  std::map<JobEnd, int> ends;
  std::string last_job;  ///< "12 (0003-4-nodes)"
};

/// By the stem of the launch's record; of jobs that have ended.
[[nodiscard]] std::map<std::string, Attempts> attempts_of(const std::vector<KnownJob>& jobs);

/// Nothing, or why the launch is not tried again, by the suite's retries. A job that somebody cancelled says nothing
/// against its launch.
[[nodiscard]] Reason exhausted(const Attempts& attempts, const std::map<std::string, int>& retries);

}  // namespace fourscore
