#include "jobscripts/machines/check/check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/path_kind.hpp"
#include "core/problem.hpp"
#include "core/regular_file.hpp"
#include "core/text.hpp"
#include "jobscripts/base/output.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/jobs/job_script.hpp"
#include "jobscripts/jobs/waiting.hpp"
#include "jobscripts/machines/archive_folder.hpp"
#include "jobscripts/machines/check/probe.hpp"
#include "jobscripts/programs/bench.hpp"
#include "jobscripts/schedulers/scheduler.hpp"
#include "results/archive.hpp"
#include "results/output_file.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
constexpr double job_limit_s = 60;

/// A job of the scheduler, which ends with this.
class CheckJob {
 public:
  CheckJob(const Scheduler& scheduler, std::string id) : scheduler_(scheduler), id_(std::move(id)) {}
  ~CheckJob() {
    if (state_.phase == JobPhase::ended) return;
    InterruptGuard::obeyed();
    try {
      scheduler_.cancel({id_});
    } catch (const std::exception& error) {
      say("fourscore: job {} could not be cancelled: {}\n", id_, printable(error.what()));
    }
  }
  CheckJob(const CheckJob&) = delete;
  CheckJob& operator=(const CheckJob&) = delete;

  void wait(double patience_s) { wait_for_job(scheduler_, id_, state_, patience_s); }

  [[nodiscard]] json told() const {
    return {{"id", id_}, {"state", state_.word}, {"reason", state_.reason}, {"nodes", state_.nodes}};
  }
  [[nodiscard]] std::string end() const { return state_text_of(state_); }

 private:
  const Scheduler& scheduler_;
  std::string id_;
  JobState state_{JobPhase::queued, JobEnd::none, "", "", ""};
};

/// The folder of a check and the marks, which end with it.
class Traces {
 public:
  Traces() = default;
  ~Traces() {
    for (const FolderMark& mark : marks) remove_mark(mark);
    if (keep || folder.empty()) return;
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    fs::remove(folder.parent_path(), ignored);  // where no other check is there
  }
  Traces(const Traces&) = delete;
  Traces& operator=(const Traces&) = delete;

  std::vector<FolderMark> marks;
  fs::path folder;
  bool keep = false;  ///< the folder
};

class Check {
 public:
  explicit Check(const CheckOptions& options)
      : options_(options), place_(find_place({options.machine, "", options.mpirun})), machine_(place_.options.machine) {
    if (!machine_.scheduler.empty()) scheduler_ = &usable_scheduler();
    request_.bench = find_bench(options.bench);
    request_.mpirun = options.mpirun;
    request_.nodes = std::min(2, machine_.nodes);
    code_hash_ = Bench(request_.bench).identity().at("code_hash").get<std::string>();
    const fs::path archive = fs::absolute(archive_folder(options.archive, machine_.archive)).lexically_normal();
    traces_.marks.push_back(leave_mark(archive));
    const fs::path folder =
        archive / "machine-checks" / fmt::format("{}-{}", machine_.name, traces_.marks.front().word);
    make_folder(folder);
    traces_.folder = folder;
    for (const auto& shared : machine_.shared) add_shared(shared);
  }

  CheckResult run() {
    if (!machine_.file.empty()) {
      request_.machine_file = traces_.folder / (machine_.name + ".toml");
      write_file(request_.machine_file, machine_.text, Named::by_us);
    }
    request_.marks = traces_.marks;
    write_probe_request(request_, traces_.folder);
    if (scheduler_ == nullptr)
      result_.found = probe_machine(place_, request_, traces_.folder);
    else
      run_job();
    std::vector<std::string> folders;
    for (const FolderMark& mark : traces_.marks) folders.push_back(mark.folder.string());
    if (!result_.found.is_null())
      for (auto& finding : compare(machine_, request_.nodes, folders, code_hash_, result_.found))
        result_.findings.push_back(std::move(finding));
    result_.machine = machine_;
    traces_.keep = !result_.agrees();
    if (traces_.keep) result_.folder = traces_.folder;
    return std::move(result_);
  }

 private:
  void add_shared(const std::string& folder) {
    if (names_folder(folder))
      traces_.marks.push_back(mark_where_possible(folder));
    else
      add("shared", folder, "no folder on this machine");
  }

  void add(const std::string& key, const std::string& expected, const std::string& found) {
    result_.findings.push_back({key, expected, found, Agrees::differs});
  }

  [[nodiscard]] const Scheduler& usable_scheduler() const {
    const Scheduler& scheduler = *SchedulerRegistry::instance().find(machine_.scheduler);  // as the reader has checked
    if (const std::string problem = scheduler.unavailable(); !problem.empty())
      throw EnvironmentError(fmt::format("scheduler '{}': {}", machine_.scheduler, problem));
    return scheduler;
  }

  /// With as many ranks as a node is said to have cores, so that the job has them all.
  JobRequest job_of(int ranks_per_node) const {
    JobRequest job;
    job.name = "fourscore-check-" + machine_.name;
    job.nodes = request_.nodes;
    job.ranks_per_node = ranks_per_node;
    job.time_limit_s = job_limit_s;
    job.folder = traces_.folder;
    job.log = traces_.folder / "job.log";
    job.commands = environment_lines(machine_);
    job.commands.push_back(
        shown_command({(own_folder() / "fourscore").string(), "machine", "probe", traces_.folder.string()}));
    return job;
  }

  [[nodiscard]] std::string submit(const Machine& machine, int ranks_per_node) const {
    const fs::path script = traces_.folder / "job.sh";
    write_file(script, scheduler_->script(machine, job_of(ranks_per_node)), Named::by_us);
    return scheduler_->submit(script);
  }

  /// A job of fewer cores may be taken where one of all that the file names is refused.
  std::string submit_what_is_taken() {
    try {
      return submit(machine_, machine_.cores);
    } catch (const InputError& refused) {
      Machine modest = machine_;
      modest.cores = 0;
      std::string id;
      try {
        id = submit(modest, 1);
      } catch (const InputError&) {
        throw refused;
      }
      add("cores", fmt::format("{} on each of {}", machine_.cores, plural(request_.nodes, "node")),
          std::string("such a job is refused: ") + refused.what());
      return id;
    }
  }

  void run_job() {
    CheckJob job(*scheduler_, submit_what_is_taken());
    job.wait(options_.patience_s);
    result_.job = job.told();
    const fs::path answer = traces_.folder / "found.json";
    const fs::path log_file = traces_.folder / "job.log";
    if (appears([&] { return names_file(answer) || !end_of_log(log_file).empty(); }) && names_file(answer)) {
      result_.found = json::parse(read_regular_file(answer).text, nullptr, false);
      if (result_.found.is_object()) return;
      result_.found = nullptr;
    }
    if (const std::string log = end_of_log(log_file); !log.empty())
      add("job", "runs to its end", fmt::format("{}; it said: {}", job.end(), log));
    else
      add("archive", traces_.marks.front().folder.string(),
          fmt::format("not seen by the nodes: the job ended as {}, and nothing that it wrote there came back",
                      job.end()));
  }

  const CheckOptions& options_;
  Place place_;
  const Machine& machine_;
  ProbeRequest request_;
  std::string code_hash_;
  const Scheduler* scheduler_ = nullptr;
  Traces traces_;
  CheckResult result_;
};

}  // namespace

bool CheckResult::agrees() const {
  return std::ranges::none_of(findings, [](const MachineFinding& one) { return one.agreement == Agrees::differs; });
}

CheckResult check_machine(const CheckOptions& options) {
  const InterruptGuard guard;
  return Check(options).run();
}

void probe_in_job(const fs::path& folder) {
  const ProbeRequest request = read_probe_request(folder);
  const Place place = find_place({request.machine_file.string(), "", request.mpirun});
  const json found = probe_machine(place, request, folder);
  write_file(folder / "found.json", found.dump(2, ' ', false, json::error_handler_t::replace) + '\n', Named::by_us);
}

}  // namespace fourscore
