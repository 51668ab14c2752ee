#pragma once
// What Slurm's programs answer, read.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "jobscripts/schedulers/scheduler.hpp"

namespace fourscore::slurm {

/// What squeue is asked for; the reason comes last, for it may hold any character.
inline constexpr const char* squeue_format = "%i|%T|%N|%r";
/// What sacct is asked for.
inline constexpr const char* sacct_format = "JobIDRaw,State,ExitCode,User,NodeList";

/// The state that Slurm's word stands for, as squeue (%T) and sacct have it: "PENDING", "CANCELLED by 0",
/// "OUT_OF_ME+". An unknown word counts as running, so that the job is not submitted again.
[[nodiscard]] JobState state_of(const std::string& word);

/// Jobs by id, of lines in squeue_format. Lines of another form are left out.
[[nodiscard]] std::map<std::string, JobState> parse_squeue(std::string_view output);

/// Jobs by id, of lines of `sacct -X -P -n` in sacct_format, for jobs that squeue does not know. How a program failed
/// is the reason. A job of the user `me` that lives for the accounting alone has ended without its knowledge: unknown.
[[nodiscard]] std::map<std::string, JobState> parse_sacct(std::string_view output, std::string_view me);

/// The id that `sbatch --parsable` printed: "123" or "123;cluster". Nothing where it printed none.
[[nodiscard]] std::optional<std::string> parse_sbatch(std::string_view output);

/// Whether what a program wrote to standard error says that slurmctld was not there, or too busy, and not that it
/// refused.
[[nodiscard]] bool says_no_answer(std::string_view error);

/// Whether each line that scancel wrote to standard error says that its job has ended already, or is forgotten.
[[nodiscard]] bool says_has_ended(std::string_view error);

/// Limits of a partition, of `sinfo --format=%D|%s|%l`.
struct PartitionLimits {
  int nodes = 0;                       ///< that it has
  std::optional<int> most_nodes;       ///< per job
  std::optional<double> time_limit_s;  ///< per job
};
[[nodiscard]] std::optional<PartitionLimits> parse_sinfo(std::string_view output);

/// Slurm's "10:00", "1-00:00:00" or "2:00:00" in seconds; nothing for "UNLIMITED", "infinite" and what is no time.
[[nodiscard]] std::optional<double> seconds_of(std::string_view text);

}  // namespace fourscore::slurm
