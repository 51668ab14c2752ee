#pragma once
// What `fourscore submit` does once: settles what ended, and submits what is missing and in no job.

#include <string>
#include <vector>

#include "jobscripts/campaigns/selection.hpp"
#include "jobscripts/jobs/job_plan.hpp"
#include "jobscripts/jobs/job_states.hpp"

namespace fourscore {

struct SubmissionSettings {
  const Scheduler* scheduler = nullptr;
  const Machine* machine = nullptr;
  double time_limit_s = 3600;            ///< per job
  std::set<std::string> retry;           ///< statuses whose launches are measured again
  const Selection* selection = nullptr;  ///< launches that are wanted; null: all
};

/// A job, and its script.
struct ScriptedJob {
  std::string name;
  std::string script;
  JobDescription description;
  std::string id{};  ///< the scheduler's, once submitted
};

struct Submission {
  std::vector<ScriptedJob> jobs;
  std::size_t settled = 0;    ///< launches whose jobs ended during them too often: archived as failed or timeout
  std::size_t in_jobs = 0;    ///< launches that live jobs hold
  std::size_t held_back = 0;  ///< launches for which the machine's most_jobs leaves no room now
  /// Why it ended before all were submitted; those before are.
  std::string problem{};
};

/// Launches that are neither archived nor held by a job of `jobs` that lives.
[[nodiscard]] std::vector<PlannedLaunch> lacking_launches(const Campaign& campaign, const Archive& archive,
                                                          const std::vector<KnownJob>& jobs,
                                                          const SubmissionSettings& settings, Submission& submission);

/// What would be submitted; writes nothing.
[[nodiscard]] Submission plan_submission(const Campaign& campaign, const Archive& archive,
                                         const SubmissionSettings& settings);

/// The caller holds the campaign's lock for submitting. Throws InputError where the scheduler refuses the first job,
/// EnvironmentError where it does not answer; nothing is lost then.
[[nodiscard]] Submission submit_missing(const Campaign& campaign, const Archive& archive,
                                        const SubmissionSettings& settings);

}  // namespace fourscore
