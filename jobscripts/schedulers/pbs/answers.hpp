#pragma once
// What PBS's programs answer, read. `qstat -f` is read as text: its JSON is not reliable. It has only the first of
// several jobs (OpenPBS issue 2672), and a job's environment can make it no JSON at all (issues 1255 and 2541).

#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "jobscripts/schedulers/scheduler.hpp"

namespace fourscore::pbs {

/// The attributes of one job: "Exit_status" -> "271", "Resource_List.walltime" -> "01:00:00".
using Attributes = std::map<std::string, std::string>;

/// Jobs by id, of the output of `qstat -f`. Lines that it broke are joined.
[[nodiscard]] std::map<std::string, Attributes> parse_qstat(std::string_view output);

/// The state, and what ended the job: a node that went down leaves no exit status, qdel substate 91, a limit a negative
/// exit status or, in versions before 19, SIGTERM.
[[nodiscard]] JobState state_of(const Attributes& job);

/// "n1,n2" of "n1/0*2+n2/1*2".
[[nodiscard]] std::string hosts_of(std::string_view exec_host);

/// Seconds until the time limit, from `stime` and `Resource_List.walltime`; nothing where one is missing.
[[nodiscard]] std::optional<double> left_s(const Attributes& job, std::time_t now);

/// "26:00:00", "10:00" or "45" in seconds.
[[nodiscard]] std::optional<double> seconds_of(std::string_view text);

/// The id that qsub printed, "123.server"; nothing where it printed none.
[[nodiscard]] std::optional<std::string> parse_qsub(std::string_view output);

/// Whether what a program wrote to standard error says that the server was not reached, and not that it refused.
[[nodiscard]] bool says_no_answer(std::string_view error);

/// Whether each line says that its job has ended already, or is forgotten.
[[nodiscard]] bool says_has_ended(std::string_view error);

/// Whether a server that keeps no history of ended jobs refused `qstat -x`.
[[nodiscard]] bool says_no_history(std::string_view error);

/// What PBS takes for a job's name: its letters and digits, 230 of them, and _ for others.
[[nodiscard]] std::string job_name(const std::string& name);

}  // namespace fourscore::pbs
