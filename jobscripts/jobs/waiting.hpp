#pragma once
// A job of a few seconds that a command waits for.

#include <filesystem>
#include <functional>
#include <limits>
#include <string>

#include "jobscripts/schedulers/scheduler.hpp"

namespace fourscore {

/// The scheduler's word for it, and its reason: "PENDING (Resources)".
[[nodiscard]] std::string state_text_of(const JobState& state);

/// Waits until the job has ended, and says each change of its state: "job 12: PENDING (Resources)". `state` is what was
/// seen last, whatever is thrown; nodes that were seen once stay in it. Throws EnvironmentError where it has not begun
/// after so long, and what Scheduler::states() throws.
void wait_for_job(const Scheduler& scheduler, const std::string& id, JobState& state,
                  double patience_s = std::numeric_limits<double>::infinity());

/// Waits for what another node wrote, which a shared file system may show late: until is_there(), or for 15 s.
[[nodiscard]] bool appears(const std::function<bool()>& is_there);

/// The end of what a job wrote, without line breaks behind it; empty where it wrote nothing.
[[nodiscard]] std::string end_of_log(const std::filesystem::path& log);

}  // namespace fourscore
