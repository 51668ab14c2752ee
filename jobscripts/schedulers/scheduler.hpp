#pragma once
// Who runs jobs on a cluster. One self-registering file each.

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/registry.hpp"
#include "jobscripts/base/machine.hpp"

namespace fourscore {

/// A job to be written as a script.
struct JobRequest {
  std::string name;
  int nodes = 1;
  int ranks_per_node = 1;  ///< the most that one of its launches has
  int threads = 1;         ///< a rank; the most of its launches
  double time_limit_s = 60;
  std::filesystem::path folder;  ///< where it starts
  std::filesystem::path log;     ///< standard output and error together
  /// Lines of shell. The last one is warned before the time limit (SIGTERM) where it begins with `exec` and the
  /// scheduler can warn: the signal reaches the job's first process alone, and a shell would die of it.
  std::vector<std::string> commands;
};

enum class JobPhase { queued, running, ended };
/// What ended a job. `unknown`: the scheduler has forgotten it.
enum class JobEnd { none, completed, failed, timeout, node_failure, out_of_memory, preempted, cancelled, unknown };

inline constexpr std::array<JobEnd, 9> all_job_ends{JobEnd::none,      JobEnd::completed,    JobEnd::failed,
                                                    JobEnd::timeout,   JobEnd::node_failure, JobEnd::out_of_memory,
                                                    JobEnd::preempted, JobEnd::cancelled,    JobEnd::unknown};

struct JobState {
  JobPhase phase = JobPhase::ended;
  JobEnd end = JobEnd::unknown;  ///< none while it has not ended
  std::string word{};            ///< the scheduler's own: "PENDING", "OUT_OF_MEMORY"
  std::string reason{};          ///< the scheduler's own: "Resources"; empty: none
  std::string nodes{};           ///< as the scheduler lists them: "n[1-4]"
};

/// The job in which this program runs.
struct Allocation {
  std::string job;
  std::vector<std::string> hosts;
  std::optional<double> left_s;  ///< until its time limit, a warning comes up to 50 s earlier; nothing: not known
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  [[nodiscard]] virtual Card card() const = 0;
  /// Why no job can be submitted from here; empty when one can.
  [[nodiscard]] virtual std::string unavailable() const = 0;

  /// A script that a person can read, and submit by hand.
  [[nodiscard]] virtual std::string script(const Machine& machine, const JobRequest& job) const = 0;
  /// The job's id. Throws InputError with the scheduler's own words for a job that it refuses (partition, account, more
  /// nodes than there are); EnvironmentError where it does not answer, after it was asked again for minutes.
  [[nodiscard]] virtual std::string submit(const std::filesystem::path& script) const = 0;
  /// The states of these jobs, by id, by one query of those that live and one of those that it has forgotten. A job
  /// that is forgotten has ended, and its end is unknown. Throws EnvironmentError where the scheduler does not answer,
  /// after it was asked again for half a minute.
  [[nodiscard]] virtual std::map<std::string, JobState> states(const std::vector<std::string>& jobs) const = 0;
  /// What has ended already is no error. Throws as states().
  virtual void cancel(const std::vector<std::string>& jobs) const = 0;
  /// Nothing outside a job of this scheduler.
  [[nodiscard]] virtual std::optional<Allocation> allocation() const = 0;
};

using SchedulerRegistry = Registry<Scheduler>;

/// The allocation of any scheduler in which this program runs.
[[nodiscard]] std::optional<Allocation> current_allocation();

[[nodiscard]] std::string to_string(JobPhase);
[[nodiscard]] std::string to_string(JobEnd);

}  // namespace fourscore

#define FOURSCORE_REGISTER_SCHEDULER(Type) \
  static const bool registered_##Type = ::fourscore::SchedulerRegistry::instance().add(std::make_unique<Type>())
