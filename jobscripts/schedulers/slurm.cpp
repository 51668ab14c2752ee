// Slurm: sbatch, squeue, sacct and scancel.

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <set>

#include "core/environment.hpp"
#include "core/errors.hpp"
#include "core/regular_file.hpp"
#include "core/text.hpp"
#include "jobscripts/base/output.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/schedulers/scheduler.hpp"
#include "jobscripts/schedulers/shared/asking.hpp"
#include "jobscripts/schedulers/shared/script_lines.hpp"
#include "jobscripts/schedulers/slurm/answers.hpp"
#include "jobscripts/schedulers/slurm/hosts.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

/// Slurm warns a job so long before its time limit, and up to 30 s earlier: slurmctld looks twice a minute. It takes
/// fourscore 6 s to end a launch and to stop. The warning would take too large a part of a shorter job.
constexpr int warning_s = 20;
constexpr double shortest_warned_s = 180;
/// Clocks of the login node and of slurmctld may differ by so much.
constexpr std::int64_t clock_slack_s = 60;
/// Times as seconds since 1970.
const std::pair<std::string, std::string> epoch_times{"SLURM_TIME_FORMAT", "%s"};

/// As sacct has it.
std::string user_name() {
  const passwd* user = ::getpwuid(::geteuid());
  return user == nullptr ? std::to_string(::geteuid()) : user->pw_name;
}

/// Variables that change what Slurm's programs do: SQUEUE_STATES would leave jobs out, SCANCEL_INTERACTIVE would ask,
/// SLURM_CLUSTERS would send each to another cluster.
bool changes_programs(std::string_view name) {
  return name.starts_with("SQUEUE_") || name.starts_with("SCANCEL_") || name.starts_with("SINFO_") ||
         name == "SLURM_CLUSTERS";
}

/// Whether a variable of sbatch wins over what every script here says, or says what no job here may be.
bool changes_every_job(std::string_view name) {
  static constexpr std::array names{"SBATCH_ARRAY_INX", "SBATCH_CLUSTERS",   "SBATCH_ERROR",  "SBATCH_REQUEUE",
                                    "SBATCH_WAIT",      "SBATCH_NO_REQUEUE", "SLURM_CLUSTERS"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// "--time" is SBATCH_TIMELIMIT, all others as "--ntasks-per-node" and SBATCH_NTASKS_PER_NODE.
std::string variable_of(const std::string& option) {
  if (option == "--time") return "SBATCH_TIMELIMIT";
  std::string name = "SBATCH_";
  for (const char c : option.substr(std::min<std::size_t>(2, option.size())))
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

ProcessResult ask_squeue(const std::vector<std::string>& options, double patience_s) {
  std::vector<std::string> argv{"squeue", "--noheader"};
  argv.insert(argv.end(), options.begin(), options.end());
  const auto never = [](std::string_view) { return false; };
  return ask_until_answered(Patience("Slurm", patience_s), argv, slurm::says_no_answer, never, {epoch_times},
                            changes_programs);
}

class SlurmScheduler : public Scheduler {
 public:
  [[nodiscard]] Card card() const override {
    return {"slurm", "Slurm: jobs by sbatch, their states from squeue and sacct", "https://slurm.schedmd.com"};
  }

  [[nodiscard]] std::string unavailable() const override {
    if (const std::string missing = not_in_path({"sbatch", "squeue", "scancel"}); !missing.empty())
      return fmt::format(
          "no {} in PATH; on a cluster with Slurm use a login node (some have a module slurm), elsewhere run a suite "
          "with `fourscore run`",
          missing);
    // Without a configuration even this fails; it does not ask slurmctld.
    const ProcessResult answer = ask({"sbatch", "--version"});
    if (answer.succeeded()) return {};
    return fmt::format(
        "`sbatch --version` says: {}; SLURM_CONF names Slurm's configuration where it is not in /etc/slurm",
        last_line(words_of(answer)));
  }

  [[nodiscard]] std::string script(const Machine& machine, const JobRequest& job) const override;
  [[nodiscard]] std::string submit(const std::filesystem::path& script) const override;
  [[nodiscard]] std::map<std::string, JobState> states(const std::vector<std::string>& jobs) const override;
  void cancel(const std::vector<std::string>& jobs) const override;
  [[nodiscard]] std::optional<Allocation> allocation() const override;

 private:
  [[nodiscard]] std::optional<std::string> submitted_since(const std::string& script, std::time_t begin) const;
  void refuse_what_never_starts(const std::string& job) const;
};

/// The options of a job, in the order in which they are written; those without a value are left out.
std::vector<std::pair<std::string, std::string>> options_of_job(const Machine& machine, const JobRequest& job) {
  std::string log = job.log.string();
  if (log.find('\\') != std::string::npos)  // which for Slurm means: no patterns in this name
    throw InputError(fmt::format("the log is '{}'; expected a path without a backslash", printable(log)));
  for (std::size_t at = log.find('%'); at != std::string::npos; at = log.find('%', at + 2)) log.insert(at, "%");
  std::vector<std::pair<std::string, std::string>> options{
      {"--job-name", job.name},
      {"--nodes", std::to_string(job.nodes)},
      {"--ntasks-per-node", std::to_string(tasks_per_node(machine, job))},
      {"--cpus-per-task", std::to_string(job.threads)},
      {"--time", clock_time(job.time_limit_s)},
      {"--partition", machine.partition},
      {"--account", machine.account},
      {"--qos", machine.qos},
      {"--constraint", machine.constraint},
      {"--chdir", job.folder.string()},
      {"--output", log},
  };
  // The warning goes to the job's first process alone. A shell dies of it, and the job with it.
  const bool hears = !job.commands.empty() && job.commands.back().starts_with("exec ");
  if (hears && job.time_limit_s >= shortest_warned_s)
    options.emplace_back("--signal", "B:TERM@" + std::to_string(warning_s));
  return options;
}

std::string SlurmScheduler::script(const Machine& machine, const JobRequest& job) const {
  const std::set<std::string> set = options_of(machine.directives);
  for (const char* unusable : {"--array", "-a", "--clusters", "-M", "--wait", "-W", "--test-only"})
    if (set.contains(unusable))
      throw InputError(
          fmt::format("directive '{}' of machine '{}' cannot be used: a job here is one job of this cluster, "
                      "for which nobody waits",
                      unusable, machine.name));
  std::string text = script_head(machine, job, "sbatch");
  for (const auto& [option, value] : options_of_job(machine, job))
    if (!value.empty() && !set.contains(option))
      text += fmt::format("#SBATCH {}={}\n", option, directive_word(option, value));
  // Whoever submits asks for what is missing then: a job that Slurm starts again by itself would measure it too.
  if (!set.contains("--requeue") && !set.contains("--no-requeue")) text += "#SBATCH --no-requeue\n";
  return text + directive_lines(machine, "#SBATCH ") + '\n' + script_body(machine, job);
}

std::string text_of(const std::filesystem::path& script) {
  try {
    return read_regular_file(script).text;
  } catch (const UnreadableFile& error) {
    throw InputError(fmt::format("the job script {} cannot be read: {}", printable(script.string()), error.what()));
  }
}

/// The options that a script sets by its directives.
std::set<std::string> options_in(const std::filesystem::path& script) {
  std::vector<std::string> directives;
  for (const std::string& line : split(text_of(script), '\n'))
    if (line.starts_with("#SBATCH ")) directives.push_back(line.substr(8));
  return options_of(directives);
}

std::string SlurmScheduler::submit(const std::filesystem::path& script) const {
  const std::string file = std::filesystem::absolute(script).lexically_normal().string();
  // SBATCH_TIMELIMIT and the like would win over the script, and a job that submits would pass its own size on.
  std::vector<std::string> outranked;
  for (const auto& option : options_in(file)) outranked.push_back(variable_of(option));
  const bool in_job = !environment("SLURM_JOB_ID").empty();
  const auto drop = [&](std::string_view name) {
    if (in_job && (name.starts_with("SLURM_") || name.starts_with("SLURMD_")))
      return name != "SLURM_CONF" && name != "SLURM_JWT" && !name.starts_with("SLURM_PMIX");
    return changes_every_job(name) || std::find(outranked.begin(), outranked.end(), name) != outranked.end();
  };
  const std::time_t begin = std::time(nullptr);
  Patience patience("Slurm");
  while (true) {
    const ProcessResult answer = ask_for_job({"sbatch", "--parsable", file}, drop);
    const auto job = slurm::parse_sbatch(answer.output);
    if (answer.succeeded() && job) {
      try {
        if (!InterruptGuard::interrupted()) refuse_what_never_starts(*job);
      } catch (const Interrupted&) {
        // The job is there: the caller, who finds out that it is interrupted, is to know which it is.
      } catch (const EnvironmentError&) {
        // Whether it can ever start stays unknown, or it could not be cancelled.
      }
      return *job;
    }
    const std::string why = words_of(answer);
    if (answer.succeeded())
      throw EnvironmentError(
          fmt::format("sbatch took {}, and printed no job's id: {}", file, shortened(answer.output, 200)));
    if (!answer.timed_out && !slurm::says_no_answer(why))
      throw InputError(fmt::format("Slurm refuses {}: {}", file, why));
    patience.wait(why);
    // A request whose answer was lost may have been taken all the same.
    if (const auto taken = submitted_since(file, begin)) return *taken;
  }
}

/// The job of this script that was submitted at `begin` or later.
std::optional<std::string> SlurmScheduler::submitted_since(const std::string& script, std::time_t begin) const {
  const ProcessResult answer = ask_squeue({"--me", "--states=all", "--format=%i|%V|%o"}, usual_patience_s);
  for (const std::string& line : split(answer.output, '\n')) {
    const auto fields = split(line, '|');
    if (fields.size() < 3 || line.substr(fields[0].size() + fields[1].size() + 2) != script) continue;
    const auto when = number_from<std::int64_t>(fields[1]);
    if (when.value_or(0) + clock_slack_s >= begin) return fields[0];
  }
  return std::nullopt;
}

/// Where its EnforcePartLimits is NO, Slurm takes a job that its partition never starts, and lets it wait.
void SlurmScheduler::refuse_what_never_starts(const std::string& job) const {
  const ProcessResult asked =
      ask({"squeue", "--noheader", "--jobs=" + job, "--format=%D|%l|%P|%r"}, {}, changes_programs);
  const auto fields = split(asked.output.substr(0, asked.output.find('\n')), '|');
  if (fields.size() != 4 || !has_one_of(fields[3], {"PartitionConfig", "PartitionNodeLimit", "PartitionTimeLimit"}))
    return;
  // These reasons may also come of nodes that are away: the partition itself decides.
  const ProcessResult told =
      ask({"sinfo", "--noheader", "--partition=" + fields[2], "--format=%D|%s|%l"}, {}, changes_programs);
  const auto limits = slurm::parse_sinfo(told.output);
  const auto wanted_s = slurm::seconds_of(fields[1]);
  const int nodes = number_from<int>(fields[0]).value_or(0);
  if (!limits) return;
  std::string why;
  if (nodes > limits->nodes)
    why = fmt::format("it asks for {} nodes, and partition '{}' has {}", nodes, fields[2], limits->nodes);
  else if (limits->most_nodes && nodes > *limits->most_nodes)
    why = fmt::format("it asks for {} nodes, and a job of partition '{}' may have {}", nodes, fields[2],
                      *limits->most_nodes);
  else if (limits->time_limit_s && wanted_s && *wanted_s > *limits->time_limit_s)
    why = fmt::format("its time limit is {}, and that of partition '{}' is {}", clock_time(*wanted_s), fields[2],
                      clock_time(*limits->time_limit_s));
  if (why.empty()) return;
  cancel({job});
  throw InputError(fmt::format("Slurm would never start job {} ({}): {}; it was cancelled", job, fields[3], why));
}

std::map<std::string, JobState> SlurmScheduler::states(const std::vector<std::string>& jobs) const {
  std::map<std::string, JobState> states;
  if (jobs.empty()) return states;
  const auto known = slurm::parse_squeue(
      ask_squeue({"--me", "--states=all", fmt::format("--format={}", slurm::squeue_format)}, status_patience_s).output);
  std::vector<std::string> forgotten;
  for (const auto& job : jobs) {
    const auto found = known.find(job);
    if (found != known.end())
      states.insert_or_assign(job, found->second);
    else
      forgotten.push_back(job);
  }
  if (forgotten.empty()) return states;
  std::string why = "Slurm has forgotten it";
  std::map<std::string, JobState> accounted;
  if (not_in_path({"sacct"}).empty()) {
    const ProcessResult answer =
        ask({"sacct", "--allocations", "--parsable2", "--noheader", fmt::format("--jobs={}", fmt::join(forgotten, ",")),
             fmt::format("--format={}", slurm::sacct_format)},
            {}, changes_programs);
    accounted = slurm::parse_sacct(answer.output, user_name());
    if (!answer.succeeded()) why += ", and sacct says: " + printable(words_of(answer));
  }
  for (const auto& job : forgotten) {
    const auto found = accounted.find(job);
    states.insert_or_assign(
        job, found != accounted.end() ? found->second : JobState{JobPhase::ended, JobEnd::unknown, "", why});
  }
  return states;
}

void SlurmScheduler::cancel(const std::vector<std::string>& jobs) const {
  if (jobs.empty()) return;
  std::vector<std::string> argv{"scancel"};
  argv.insert(argv.end(), jobs.begin(), jobs.end());
  ask_until_answered(Patience("Slurm"), argv, slurm::says_no_answer, slurm::says_has_ended, {}, changes_programs);
}

/// When the job in which this program runs must end, in seconds since 1970. Asked once: a time limit is seldom changed.
std::optional<double> end_of_job(const std::string& job) {
  const auto parsed = [](const std::string& text) -> std::optional<double> {
    const auto value = number_from<std::int64_t>(trimmed(text));
    return value && *value > 0 ? std::optional(static_cast<double>(*value)) : std::nullopt;
  };
  if (const auto end = parsed(environment("SLURM_JOB_END_TIME"))) return end;  // newer versions set it
  static std::map<std::string, std::optional<double>> known;
  const auto found = known.find(job);
  if (found != known.end()) return found->second;
  if (!not_in_path({"squeue"}).empty()) return std::nullopt;
  const ProcessResult answer = ask({"squeue", "--noheader", "--jobs=" + job, "--format=%e"}, {epoch_times},
                                   changes_programs, short_call_limit_s);
  return known[job] = parsed(answer.output);
}

std::optional<Allocation> SlurmScheduler::allocation() const {
  const std::string job = environment("SLURM_JOB_ID");
  const std::string nodes = environment("SLURM_JOB_NODELIST");
  if (job.empty() || nodes.empty()) return std::nullopt;
  Allocation allocation{job, slurm::expand_hosts(nodes), std::nullopt};
  if (const auto end = end_of_job(job))
    allocation.left_s = std::max(0.0, *end - static_cast<double>(std::time(nullptr)));
  return allocation;
}

FOURSCORE_REGISTER_SCHEDULER(SlurmScheduler);

}  // namespace
}  // namespace fourscore
