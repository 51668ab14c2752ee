// PBS Professional and OpenPBS: qsub, qstat and qdel.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/environment.hpp"
#include "core/errors.hpp"
#include "core/regular_file.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/schedulers/pbs/answers.hpp"
#include "jobscripts/schedulers/scheduler.hpp"
#include "jobscripts/schedulers/shared/asking.hpp"
#include "jobscripts/schedulers/shared/script_lines.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

/// `qstat -f` of these jobs. That it does not know some is an answer.
std::map<std::string, pbs::Attributes> ask_qstat(const std::vector<std::string>& options,
                                                 const std::vector<std::string>& jobs) {
  std::vector<std::string> argv{"qstat"};
  argv.insert(argv.end(), options.begin(), options.end());
  argv.insert(argv.end(), jobs.begin(), jobs.end());
  const auto is_answer = [](std::string_view error) {
    return pbs::says_has_ended(error) || pbs::says_no_history(error);
  };
  return pbs::parse_qstat(
      ask_until_answered(Patience("PBS", status_patience_s), argv, pbs::says_no_answer, is_answer).output);
}

class PbsScheduler : public Scheduler {
 public:
  [[nodiscard]] Card card() const override {
    return {"pbs", "PBS Professional and OpenPBS: jobs by qsub, their states from qstat", "https://www.openpbs.org"};
  }

  [[nodiscard]] std::string unavailable() const override {
    if (const std::string missing = not_in_path({"qsub", "qstat", "qdel"}); !missing.empty())
      return fmt::format(
          "no {} in PATH; on a cluster with PBS use a login node (some have a module pbs), elsewhere run a suite with "
          "`fourscore run`",
          missing);
    // Torque, Grid Engine and Slurm have programs of these names too.
    const ProcessResult answer = ask({"qsub", "--version"});
    const std::string said = answer.output + answer.stderr_tail;
    if (said.find("pbs_version") != std::string::npos) return {};
    return fmt::format(
        "the qsub in PATH is that of another scheduler: `qsub --version` says '{}'; expected pbs_version = ...",
        shortened(said, 80));
  }

  [[nodiscard]] std::string script(const Machine& machine, const JobRequest& job) const override;
  [[nodiscard]] std::string submit(const std::filesystem::path& script) const override;
  [[nodiscard]] std::map<std::string, JobState> states(const std::vector<std::string>& jobs) const override;
  void cancel(const std::vector<std::string>& jobs) const override;
  [[nodiscard]] std::optional<Allocation> allocation() const override;
};

std::string select_of(const Machine& machine, const JobRequest& job) {
  const int cores = tasks_per_node(machine, job) * job.threads;
  std::string select =
      fmt::format("select={}:ncpus={}:mpiprocs={}:ompthreads={}", job.nodes, cores, job.ranks_per_node, job.threads);
  return machine.constraint.empty() ? select : select + ':' + machine.constraint;
}

std::string PbsScheduler::script(const Machine& machine, const JobRequest& job) const {
  if (!machine.qos.empty())
    throw InputError(
        fmt::format("machine '{}': [queue] qos is '{}', and PBS has none; leave it out, and write what this "
                    "site has in its place among the directives",
                    machine.name, machine.qos));
  if (job.log.string().find(':') != std::string::npos)  // which separates host and path
    throw InputError(fmt::format("the log is '{}'; expected a path without a colon", printable(job.log.string())));
  const std::set<std::string> set = options_of(machine.directives);
  const auto resource_is_set = [&machine](const std::string& name) {
    return std::any_of(machine.directives.begin(), machine.directives.end(), [&name](const std::string& directive) {
      return directive.starts_with("-l") && directive.find(name + '=') != std::string::npos;
    });
  };
  std::string text = script_head(machine, job, "qsub");
  const auto add = [&text](const std::string& option, const std::string& value) {
    if (!value.empty()) text += fmt::format("#PBS {} {}\n", option, directive_word("option " + option, value));
  };
  add("-N", pbs::job_name(job.name));
  if (!resource_is_set("select")) add("-l", select_of(machine, job));
  if (!resource_is_set("place")) add("-l", "place=scatter");  // each chunk on a node of its own
  if (!resource_is_set("walltime")) add("-l", "walltime=" + clock_time(job.time_limit_s));
  if (!set.contains("-q")) add("-q", machine.partition);
  if (!set.contains("-A")) add("-A", machine.account);
  add("-j", "oe");
  add("-o", job.log.string());
  // Whoever submits asks for what is missing then: a job that PBS starts again by itself would measure it too.
  if (!set.contains("-r")) add("-r", "n");
  for (const char* unusable : {"-J", "-W block", "-I"})
    if (std::any_of(machine.directives.begin(), machine.directives.end(),
                    [unusable](const std::string& directive) { return directive.starts_with(unusable); }))
      throw InputError(
          fmt::format("directive '{}' of machine '{}' cannot be used: a job here is one job, for which nobody waits",
                      unusable, machine.name));
  text += directive_lines(machine, "#PBS ") + '\n';
  if (!job.folder.empty()) text += "cd " + shell_word(job.folder.string()) + " || exit 3\n";
  return text + script_body(machine, job);
}

std::string PbsScheduler::submit(const std::filesystem::path& script) const {
  const std::string file = std::filesystem::absolute(script).lexically_normal().string();
  Patience patience("PBS");
  while (true) {
    // -f: qsub leaves no process behind.
    const ProcessResult answer = ask_for_job({"qsub", "-f", file});
    if (const auto job = pbs::parse_qsub(answer.output); answer.succeeded() && job) return *job;
    const std::string why = words_of(answer);
    if (answer.timed_out || answer.succeeded())
      throw EnvironmentError(fmt::format("qsub may have taken {}: {}; `qstat -u $USER` shows whether", file, why));
    if (!pbs::says_no_answer(why)) throw InputError(fmt::format("PBS refuses {}: {}", file, why));
    patience.wait(why);
  }
}

std::map<std::string, JobState> PbsScheduler::states(const std::vector<std::string>& jobs) const {
  std::map<std::string, JobState> states;
  if (jobs.empty()) return states;
  auto known = ask_qstat({"-f"}, jobs);
  std::vector<std::string> gone;
  for (const auto& job : jobs)
    if (!known.contains(job)) gone.push_back(job);
  if (!gone.empty()) known.merge(ask_qstat({"-x", "-f"}, gone));
  for (const auto& job : jobs) {
    const auto found = known.find(job);
    states.insert_or_assign(job, found != known.end()
                                     ? pbs::state_of(found->second)
                                     : JobState{JobPhase::ended, JobEnd::unknown, "", "PBS has forgotten it"});
  }
  return states;
}

void PbsScheduler::cancel(const std::vector<std::string>& jobs) const {
  if (jobs.empty()) return;
  std::vector<std::string> argv{"qdel"};
  argv.insert(argv.end(), jobs.begin(), jobs.end());
  ask_until_answered(Patience("PBS"), argv, pbs::says_no_answer, pbs::says_has_ended);
}

/// PBS names no host twice in a row of chunks, but a host may have several lines: one a process.
std::vector<std::string> hosts_in(const std::string& node_file) {
  std::vector<std::string> hosts;
  std::set<std::string> seen;
  std::istringstream lines(text_or_nothing(node_file));
  for (std::string host; std::getline(lines, host);)
    if (!host.empty() && seen.insert(host).second) hosts.push_back(host);
  return hosts;
}

std::optional<Allocation> PbsScheduler::allocation() const {
  const std::string job = environment("PBS_JOBID");
  const std::string node_file = environment("PBS_NODEFILE");
  if (job.empty() || node_file.empty()) return std::nullopt;
  Allocation allocation{job, hosts_in(node_file), std::nullopt};
  static std::map<std::string, pbs::Attributes> known;  // asked once
  if (!known.contains(job) && not_in_path({"qstat"}).empty()) {
    const auto answered = pbs::parse_qstat(ask({"qstat", "-f", job}, {}, {}, short_call_limit_s).output);
    const auto found = answered.find(job);
    known[job] = found == answered.end() ? pbs::Attributes{} : found->second;
  }
  allocation.left_s = pbs::left_s(known[job], std::time(nullptr));
  return allocation;
}

FOURSCORE_REGISTER_SCHEDULER(PbsScheduler);

}  // namespace
}  // namespace fourscore
