#include "jobscripts/schedulers/pbs/answers.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "core/text.hpp"
#include "jobscripts/schedulers/shared/asking.hpp"

namespace fourscore::pbs {
namespace {

constexpr std::size_t longest_name = 230;  // PBS_MAXJOBNAME; before version 13 it was 15

/// Substates of a finished job (OpenPBS, src/include/job.h).
constexpr const char* substate_deleted = "91";
constexpr const char* substate_failed = "93";

struct Ending {
  int exit_status;
  JobEnd end;
  const char* reason;
};
/// JOB_EXEC_... of src/include/job.h. Others below 0 are failures to start.
constexpr std::array endings{
    Ending{-14, JobEnd::node_failure, "a node of the job was lost"},
    Ending{-20, JobEnd::node_failure, "the job's first node was lost"},
    Ending{-26, JobEnd::out_of_memory, "exceeded resource vmem"},
    Ending{-27, JobEnd::out_of_memory, "exceeded resource mem"},
    Ending{-29, JobEnd::timeout, "exceeded resource walltime"},
};
/// Above this an exit status is this and the number of a signal.
constexpr int signal_base = 256;

std::string value_of(const Attributes& job, const std::string& name) {
  const auto found = job.find(name);
  return found == job.end() ? std::string{} : found->second;
}

JobPhase phase_of(const std::string& letter) {
  static const std::string queued = "QHWTM";  // M: moved to another server, which we do not ask
  static const std::string ended = "FXC";     // C: completed, as older servers have it
  if (letter.size() != 1) return JobPhase::running;
  if (queued.find(letter) != std::string::npos) return JobPhase::queued;
  return ended.find(letter) != std::string::npos ? JobPhase::ended : JobPhase::running;
}

/// What PBS shows as one letter.
std::string word_of(const std::string& letter) {
  static const std::map<std::string, std::string> words{
      {"Q", "queued"},     {"H", "held"},      {"W", "waiting"},
      {"T", "in transit"}, {"M", "moved"},     {"R", "running"},
      {"E", "exiting"},    {"S", "suspended"}, {"U", "suspended by its user"},
      {"B", "begun"},      {"F", "finished"},  {"X", "expired"},
      {"C", "completed"},
  };
  const auto found = words.find(letter);
  return found == words.end() ? letter : letter + " (" + found->second + ")";
}

void set_end(JobState& state, const Attributes& job) {
  const std::string substate = value_of(job, "substate");
  const auto exit_status = number_from<int>(value_of(job, "Exit_status"));
  if (substate == substate_deleted) {
    state.end = JobEnd::cancelled;
  } else if (!exit_status) {
    state.end = substate == substate_failed ? JobEnd::node_failure : JobEnd::cancelled;
  } else if (*exit_status == 0) {
    state.end = JobEnd::completed;
  } else {
    state.end = JobEnd::failed;
    for (const Ending& ending : endings)
      if (ending.exit_status == *exit_status) state = {state.phase, ending.end, state.word, ending.reason, state.nodes};
    const auto used = seconds_of(value_of(job, "resources_used.walltime"));
    const auto limit = seconds_of(value_of(job, "Resource_List.walltime"));
    if (*exit_status >= signal_base && used && limit && *used >= *limit) state.end = JobEnd::timeout;
    if (state.reason.empty())
      state.reason = *exit_status > signal_base ? "signal " + std::to_string(*exit_status - signal_base)
                                                : "exit status " + std::to_string(*exit_status);
  }
}

}  // namespace

std::map<std::string, Attributes> parse_qstat(std::string_view output) {
  std::map<std::string, Attributes> jobs;
  Attributes* job = nullptr;
  std::string* value = nullptr;
  for (const std::string& line : split(output, '\n')) {
    if (line.starts_with("Job Id: ")) {
      job = &jobs[line.substr(8)];
      value = nullptr;
    } else if (line.starts_with('\t') && value != nullptr) {
      *value += line.substr(1);
    } else if (const std::size_t equals = line.find(" = ");
               job != nullptr && line.starts_with("    ") && equals != std::string::npos) {
      // What a job's environment holds comes last, and may look like an attribute: the first of a name counts.
      const auto [place, is_new] = job->emplace(line.substr(4, equals - 4), line.substr(equals + 3));
      value = is_new ? &place->second : nullptr;
    } else {
      value = nullptr;
    }
  }
  return jobs;
}

JobState state_of(const Attributes& job) {
  const std::string letter = value_of(job, "job_state");
  JobState state{phase_of(letter), JobEnd::none, word_of(letter), "", hosts_of(value_of(job, "exec_host"))};
  if (state.phase == JobPhase::ended) set_end(state, job);
  // "Not Running: Insufficient amount of resource", "Job run at ... and failed"
  if (const std::string comment = value_of(job, "comment"); state.reason.empty()) state.reason = comment;
  return state;
}

std::string hosts_of(std::string_view exec_host) {
  std::vector<std::string> hosts;
  std::set<std::string> seen;
  for (const std::string& part : split(exec_host, '+')) {
    std::string host = part.substr(0, part.find('/'));
    if (!host.empty() && seen.insert(host).second) hosts.push_back(std::move(host));
  }
  return fmt::format("{}", fmt::join(hosts, ","));
}

std::optional<double> left_s(const Attributes& job, std::time_t now) {
  const auto limit = seconds_of(value_of(job, "Resource_List.walltime"));
  std::tm begin{};
  const std::string started = value_of(job, "stime");  // "Sun Nov 22 10:00:00 2026", local time
  if (!limit || ::strptime(started.c_str(), "%a %b %d %H:%M:%S %Y", &begin) == nullptr) return std::nullopt;
  begin.tm_isdst = -1;
  return std::max(0.0, *limit - std::difftime(now, std::mktime(&begin)));
}

std::optional<double> seconds_of(std::string_view text) {
  double seconds = 0;
  const auto parts = split(text, ':');
  if (parts.size() > 3) return std::nullopt;
  for (const auto& part : parts) {
    const auto value = number_from<int>(part);
    if (!value || *value < 0) return std::nullopt;
    seconds = 60 * seconds + *value;
  }
  return seconds;
}

std::optional<std::string> parse_qsub(std::string_view output) {
  for (const std::string& line : split(output, '\n')) {
    const std::string id = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    if (!id.empty() && std::isdigit(static_cast<unsigned char>(id.front())) != 0 && id.find(' ') == std::string::npos)
      return id;
  }
  return std::nullopt;
}

bool says_no_answer(std::string_view error) {
  return has_one_of(error,
                    {"cannot connect to server", "Connection refused", "Connection reset", "Connection timed out",
                     "Communication failure", "No route to host", "Network is unreachable", "No free connections",
                     "Server connection table full", "Server shutting down", "End of File", "Premature end of message",
                     "Protocol (ASN.1) error"});
}

bool says_has_ended(std::string_view error) {
  return each_line_has_one_of(error, {"Unknown Job Id", "Job has finished", "Delete already in progress"});
}

bool says_no_history(std::string_view error) {
  return has_one_of(error, {"not configured to maintain job history", "job_history_enable is set to false"});
}

std::string job_name(const std::string& name) {
  std::string taken;
  for (const char c : name.substr(0, longest_name)) {
    const bool plain =
        (std::isalnum(static_cast<unsigned char>(c)) != 0) || c == '_' || c == '-' || c == '.' || c == '+';
    taken += plain ? c : '_';
  }
  if (taken.empty() || std::isalpha(static_cast<unsigned char>(taken.front())) == 0)
    taken = "j" + taken.substr(0, longest_name - 1);
  return taken;
}

}  // namespace fourscore::pbs
