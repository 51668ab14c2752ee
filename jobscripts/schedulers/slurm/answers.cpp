#include "jobscripts/schedulers/slurm/answers.hpp"

#include <algorithm>
#include <array>

#include "core/text.hpp"
#include "jobscripts/schedulers/shared/asking.hpp"

namespace fourscore::slurm {
namespace {

struct Word {
  std::string_view word;
  JobPhase phase;
  JobEnd end;
};

/// squeue(1) and sacct(1), JOB STATE CODES.
constexpr std::array words{
    Word{"PENDING", JobPhase::queued, JobEnd::none},
    Word{"REQUEUED", JobPhase::queued, JobEnd::none},
    Word{"REQUEUE_FED", JobPhase::queued, JobEnd::none},
    Word{"REQUEUE_HOLD", JobPhase::queued, JobEnd::none},
    Word{"RESV_DEL_HOLD", JobPhase::queued, JobEnd::none},
    Word{"SPECIAL_EXIT", JobPhase::queued, JobEnd::none},
    Word{"CONFIGURING", JobPhase::running, JobEnd::none},  // it has its nodes, and they boot
    Word{"RUNNING", JobPhase::running, JobEnd::none},
    Word{"RESIZING", JobPhase::running, JobEnd::none},
    Word{"SIGNALING", JobPhase::running, JobEnd::none},
    Word{"STAGE_OUT", JobPhase::running, JobEnd::none},
    Word{"STOPPED", JobPhase::running, JobEnd::none},
    Word{"SUSPENDED", JobPhase::running, JobEnd::none},
    Word{"COMPLETING", JobPhase::running, JobEnd::none},  // processes of it may still be there
    Word{"COMPLETED", JobPhase::ended, JobEnd::completed},
    Word{"FAILED", JobPhase::ended, JobEnd::failed},
    Word{"TIMEOUT", JobPhase::ended, JobEnd::timeout},
    Word{"DEADLINE", JobPhase::ended, JobEnd::timeout},
    Word{"NODE_FAIL", JobPhase::ended, JobEnd::node_failure},
    Word{"BOOT_FAIL", JobPhase::ended, JobEnd::node_failure},
    Word{"LAUNCH_FAILED", JobPhase::ended, JobEnd::node_failure},
    Word{"RECONFIG_FAIL", JobPhase::ended, JobEnd::node_failure},
    Word{"OUT_OF_MEMORY", JobPhase::ended, JobEnd::out_of_memory},
    Word{"PREEMPTED", JobPhase::ended, JobEnd::preempted},
    Word{"CANCELLED", JobPhase::ended, JobEnd::cancelled},
    Word{"REVOKED", JobPhase::ended, JobEnd::cancelled},
};

const Word* find_word(std::string_view text) {
  const auto exact = std::find_if(words.begin(), words.end(), [text](const Word& entry) { return entry.word == text; });
  if (exact != words.end()) return &*exact;
  // sacct shortens what its column cannot hold: "OUT_OF_ME+".
  if (text.size() < 2 || text.back() != '+') return nullptr;
  const auto begun = std::find_if(
      words.begin(), words.end(),
      [start = text.substr(0, text.size() - 1)](const Word& entry) { return entry.word.starts_with(start); });
  return begun == words.end() ? nullptr : &*begun;
}

bool is_id(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789_[]-,%+") == std::string_view::npos;
}

/// Slurm's words for no reason and for no nodes.
std::string unless_none(const std::string& text) {
  for (const std::string_view none : {"None", "(null)", "None assigned", "N/A"})
    if (text == none) return {};
  return text;
}

std::vector<std::string> fields_of(const std::string& line, std::size_t count) {
  std::vector<std::string> fields = split(line, '|');
  while (fields.size() > count) {  // the last one holds the separator
    const std::string rest = fields.back();
    fields.pop_back();
    fields.back() += '|' + rest;
  }
  return fields;
}

std::optional<int> whole(std::string_view text) {
  const auto value = number_from<int>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

/// "3:0" is exit status 3, "0:9" is signal 9.
std::string failure_text(const std::string& exit_code) {
  const auto parts = split(exit_code, ':');
  if (parts.size() != 2) return {};
  if (parts[1] != "0") return "signal " + parts[1];
  return parts[0] == "0" ? std::string{} : "exit status " + parts[0];
}

}  // namespace

JobState state_of(const std::string& word) {
  const std::size_t space = word.find(' ');  // "CANCELLED by 0"
  const std::string first = word.substr(0, space);
  const Word* known = find_word(first);
  if (known == nullptr) return {JobPhase::running, JobEnd::none, word};
  JobState state{known->phase, known->end, std::string(known->word)};
  if (space != std::string::npos) state.reason = word.substr(space + 1);
  return state;
}

std::map<std::string, JobState> parse_squeue(std::string_view output) {
  std::map<std::string, JobState> jobs;
  for (const std::string& line : split(output, '\n')) {
    const auto fields = fields_of(line, 4);
    if (fields.size() != 4 || !is_id(fields[0])) continue;
    JobState state = state_of(fields[1]);
    state.nodes = unless_none(fields[2]);
    if (const std::string reason = unless_none(fields[3]); !reason.empty()) state.reason = reason;
    jobs.insert_or_assign(fields[0], std::move(state));
  }
  return jobs;
}

std::map<std::string, JobState> parse_sacct(std::string_view output, std::string_view me) {
  std::map<std::string, JobState> jobs;
  for (const std::string& line : split(output, '\n')) {
    const auto fields = fields_of(line, 5);
    if (fields.size() != 5 || !is_id(fields[0])) continue;
    JobState state = state_of(fields[1]);
    if (state.end == JobEnd::failed) state.reason = failure_text(fields[2]);
    if (state.phase != JobPhase::ended && fields[3] == me)
      state = {JobPhase::ended, JobEnd::unknown, state.word, "Slurm has forgotten it, and sacct says " + state.word,
               ""};
    state.nodes = unless_none(fields[4]);
    jobs.insert_or_assign(fields[0], std::move(state));
  }
  return jobs;
}

std::optional<std::string> parse_sbatch(std::string_view output) {
  for (const std::string& line : split(output, '\n')) {
    const std::string id = line.substr(0, line.find(';'));
    if (!id.empty() && id.find_first_not_of("0123456789") == std::string::npos) return id;
  }
  return std::nullopt;
}

bool says_no_answer(std::string_view error) {
  return has_one_of(error, {"Unable to contact slurm controller",
                            "Socket timed out",
                            "Zero Bytes were transmitted",
                            "Connection refused",
                            "Connection reset",
                            "Connection timed out",
                            "connect failure",
                            "Communication connection failure",
                            "communication send failure",
                            "communication receive failure",
                            "Communication shutdown failure",
                            "standby mode",
                            "Transport endpoint",
                            "No route to host",
                            "Network is unreachable",
                            "Slurm temporarily unable to accept job",
                            "Resource temporarily unavailable",
                            "rotocol authentication error",
                            "Munge encode failed",
                            "munged"});
}

bool says_has_ended(std::string_view error) {
  return each_line_has_one_of(error, {"Invalid job id specified", "already completing or completed"});
}

std::optional<PartitionLimits> parse_sinfo(std::string_view output) {
  const auto fields = split(output.substr(0, output.find('\n')), '|');  // "4|1-infinite|10:00"
  if (fields.size() != 3 || !whole(fields[0])) return std::nullopt;
  const std::string sizes = fields[1].substr(fields[1].find('-') + 1);
  return PartitionLimits{*whole(fields[0]), whole(sizes), seconds_of(fields[2])};
}

std::optional<double> seconds_of(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::optional<int> days = dash == std::string_view::npos ? 0 : whole(text.substr(0, dash));
  const auto parts = split(dash == std::string_view::npos ? text : text.substr(dash + 1), ':');
  if (!days || parts.size() > 3) return std::nullopt;
  // "5" alone is minutes, or hours after days.
  const std::size_t begin = dash != std::string_view::npos ? 0 : parts.size() == 3 ? 0 : 1;
  std::array<double, 3> clock{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto value = whole(parts[i]);
    if (!value || begin + i > 2) return std::nullopt;
    clock.at(begin + i) = *value;
  }
  return *days * 86400.0 + clock[0] * 3600 + clock[1] * 60 + clock[2];
}

}  // namespace fourscore::slurm
