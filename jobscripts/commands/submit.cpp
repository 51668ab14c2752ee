// fourscore submit: what a suite still lacks, as jobs of a cluster's scheduler.

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/regular_file.hpp"
#include "core/text.hpp"
#include "jobscripts/base/output.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/base/progress.hpp"
#include "jobscripts/campaigns/campaign_lock.hpp"
#include "jobscripts/commands/campaign_options.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/jobs/probe.hpp"
#include "jobscripts/jobs/submission.hpp"
#include "jobscripts/jobs/waiting.hpp"
#include "jobscripts/machines/archive_folder.hpp"
#include "jobscripts/machines/machine_files.hpp"
#include "jobscripts/programs/bench.hpp"
#include "jobscripts/programs/components.hpp"
#include "results/output_file.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct SubmitOptions : CampaignOptions {
  std::string time_limit;
  bool wait = false;
};

/// The scheduler of the machine. Throws InputError without one, EnvironmentError where it is not here.
const Scheduler& scheduler_of(const Machine& machine) {
  if (machine.file.empty())
    throw InputError(
        "submit takes a machine file: --machine NAME, or FOURSCORE_MACHINE; `fourscore machine list` shows those there "
        "are. On this machine alone, `fourscore run` needs none");
  if (machine.scheduler.empty())
    throw InputError(
        fmt::format("machine {} has no scheduler (key 'scheduler' of {}); expected one, or `fourscore run`",
                    machine.name, machine.file.string()));
  const Scheduler* scheduler = SchedulerRegistry::instance().find(machine.scheduler);
  if (scheduler == nullptr) (void)SchedulerRegistry::instance().get(machine.scheduler, "scheduler");  // which throws
  return *scheduler;
}

double asked_time_limit_s(const std::string& text) {
  auto seconds = seconds_of(text);
  if (!seconds) seconds = number_from<double>(text);
  if (seconds && *seconds >= 1 && *seconds <= 1e8) return *seconds;
  throw InputError(fmt::format("--time-limit '{}': expected 02:00:00, 1-12:00:00 with days, or seconds", text));
}

std::map<std::string, fs::path> programs_of(const Suite& suite, const std::string& bench) {
  std::map<std::string, fs::path> programs;
  for (const Point& point : suite.points) {
    if (programs.contains(point.component)) continue;
    if (point.component.empty())  // also where a program prints its times: it says which machine this is
      programs[""] = find_bench(bench);
    else if (const ComponentProgram program = component_program(point.component); program.missing.empty())
      programs[point.component] = program.file;
  }
  return programs;
}

/// The suite as the jobs read it: the file may be edited, moved or removed meanwhile.
void keep_suite(const Campaign& campaign, const Archive& archive) {
  const fs::path file = archive.campaign_folder(campaign.id) / "suite.toml";
  if (is_there(file)) return;
  write_file(file, campaign.suite.text, Named::by_us);
}

void show_plan(const Campaign& campaign, const Submission& plan, const Selection& selection, bool as_json,
               bool by_login) {
  if (as_json) {
    json jobs = json::array();
    for (const ScriptedJob& job : plan.jobs)
      jobs.push_back({{"name", job.name},
                      {"nodes", job.description.nodes},
                      {"launches", job.description.launches.size()},
                      {"expected_s", job.description.expected_s},
                      {"time_limit_s", job.description.time_limit_s},
                      {"script", job.script}});
    print_json({{"campaign", campaign.id},
                {"jobs", jobs},
                {"skipped", skipped_json(campaign)},
                {"in_jobs", plan.in_jobs},
                {"held_back", plan.held_back}});
    return;
  }
  for (const ScriptedJob& job : plan.jobs) fmt::print("# job {}\n{}\n", job.name, job.script);
  std::size_t launches = 0;
  double expected_s = 0;
  for (const ScriptedJob& job : plan.jobs) {
    launches += job.description.launches.size();
    expected_s += job.description.expected_s;
  }
  fmt::print(
      "{}Campaign {}{}: {} jobs with {} launches, at most {} of launches in all; {} launches in jobs already. "
      "Nothing was written.\n",
      skipped_lines(campaign, selection), campaign.id, size_text(campaign.suite), plan.jobs.size(), launches,
      shown_duration(expected_s), plan.in_jobs);
  if (by_login)
    fmt::print(
        "No compute node was asked for its identity yet: the campaign's name will be another if it differs from "
        "this node's.\n");
}

void show_submission(const Campaign& campaign, const Submission& done, bool as_json) {
  if (as_json) {
    json jobs = json::array();
    for (const ScriptedJob& job : done.jobs)
      jobs.push_back({{"name", job.name},
                      {"id", job.id},
                      {"nodes", job.description.nodes},
                      {"launches", job.description.launches.size()},
                      {"time_limit_s", job.description.time_limit_s}});
    print_json({{"campaign", campaign.id},
                {"jobs", jobs},
                {"in_jobs", done.in_jobs},
                {"held_back", done.held_back},
                {"settled", done.settled},
                {"problem", done.problem}});
    return;
  }
  for (const ScriptedJob& job : done.jobs)
    fmt::print("job {} ({}): {}, {} launches, at most {}\n", job.id, job.name, plural(job.description.nodes, "node"),
               job.description.launches.size(), shown_duration(job.description.time_limit_s));
  std::string more;
  if (done.in_jobs > 0) more += fmt::format(", {} launches in jobs already", done.in_jobs);
  if (done.held_back > 0)
    more += fmt::format(", {} launches held back by most_jobs: submit again later", done.held_back);
  const auto skipped =
      std::ranges::count_if(campaign.points, [](const CampaignPoint& point) { return !point.skip_reason.empty(); });
  if (skipped > 0) more += fmt::format(", {} skipped (--dry-run says why)", plural(skipped, "point"));
  if (done.settled > 0) more += fmt::format(", {} launches given up (`fourscore status` says why)", done.settled);
  fmt::print("Campaign {}{}: {} jobs submitted{}\n", campaign.id, size_text(campaign.suite), done.jobs.size(), more);
}

/// Throws EnvironmentError where all of these jobs ended by themselves and not one of their launches was begun and
/// came to anything: the next jobs would do the same.
void require_progress(const Submission& done, const Campaign& campaign, const Archive& archive) {
  const JobFolder* last = nullptr;
  const auto known = known_jobs(archive, {campaign.id});
  for (const ScriptedJob& job : done.jobs) {
    const auto found = std::ranges::find(known.jobs, job.name, [](const KnownJob& one) { return one.folder.name(); });
    if (found == known.jobs.end()) return;
    const JobJournal journal = found->folder.journal();
    const JobEnd end = found->state.end;
    if ((end != JobEnd::completed && end != JobEnd::failed) || journal.archived > 0 || !journal.in_flight.empty())
      return;
    last = &found->folder;
  }
  if (last == nullptr) return;
  const std::string log = end_of_log(last->file("output.log"));
  throw EnvironmentError(fmt::format("all {} jobs ended and measured nothing, so no more are submitted; of job {}, {}",
                                     done.jobs.size(), last->name(),
                                     log.empty() ? "it left no log" : "it said:\n" + printable(log)));
}

/// Whether something of the campaign is still to come.
bool goes_on(const Campaign& campaign, const Archive& archive, const SubmissionSettings& settings) {
  const KnownJobs known = known_jobs(archive, {campaign.id});
  if (!known.problem.empty()) say("warning: {}\n", printable(known.problem));
  if (std::ranges::any_of(known.jobs, &KnownJob::lives)) return true;
  Submission ignored;
  return !lacking_launches(campaign, archive, known.jobs, settings, ignored).empty();
}

/// What killed jobs left is swept once none lives, and where nobody else measures the campaign.
void sweep_after_jobs(const Campaign& campaign, const Archive& archive) {
  const KnownJobs known = known_jobs(archive, {campaign.id});
  if (known.jobs.empty() || !known.problem.empty() || std::ranges::any_of(known.jobs, &KnownJob::lives)) return;
  try {
    const CampaignLock lock(archive, campaign.id, CampaignLock::Kind::alone);
    sweep(archive, campaign.id);
  } catch (const InputError&) {  // somebody does
  }
}

/// A campaign that came to no job and no record is as if it had not been begun. The caller holds the lock.
void withdraw(const Campaign& campaign, const Archive& archive) {
  if (campaign.exists || !archive.record_files(campaign.id).empty() || !jobs_of(archive, campaign.id).empty()) return;
  std::error_code ignored;
  for (const char* name : {"campaign.json", "suite.toml", "jobs"})
    fs::remove(archive.campaign_folder(campaign.id) / name, ignored);
}

Submission submit_once(const Campaign& campaign, const Archive& archive, const SubmissionSettings& settings) {
  const CampaignLock lock(archive, campaign.id, CampaignLock::Kind::submitting);
  sweep_after_jobs(campaign, archive);
  try {
    return submit_missing(campaign, archive, settings);
  } catch (const InputError&) {
    withdraw(campaign, archive);
    throw;
  }
}

int submit(SubmitOptions options) {
  const InterruptGuard guard;
  std::signal(SIGPIPE, SIG_IGN);
  const Place place = find_place(options.place);
  const Machine& machine = place.options.machine;
  const Scheduler& scheduler = scheduler_of(machine);
  const Archive archive(fs::absolute(archive_folder(options.archive, machine.archive)), options.access());
  SubmissionSettings settings{
      &scheduler, &machine, machine.time_limit_s, {options.retry.begin(), options.retry.end()}, nullptr};
  if (!options.time_limit.empty()) settings.time_limit_s = asked_time_limit_s(options.time_limit);
  const MachineSize size = whole_machine(place);
  options.campaign.machine = campaign_machine_json(machine, size);
  const Suite suite = chosen_suite(options, size);
  const auto programs = programs_of(suite, options.bench);
  const std::string absent = scheduler.unavailable();
  if (!absent.empty() && !options.dry_run)
    throw EnvironmentError(fmt::format("scheduler '{}': {}", machine.scheduler, absent));
  tell_interconnect(machine);
  options.campaign.identities = options.dry_run ? known_identities(archive, machine, programs)
                                                : identities_on_nodes(archive, machine, scheduler, programs);
  const bool by_login = options.campaign.identities.empty();
  const Selection selection(options.only, options.launches);
  settings.selection = &selection;
  const auto planned_campaign = [&] {
    Campaign campaign = plan_campaign(suite, options.bench, archive, options.campaign);
    selection.require_points(campaign);
    auto planned = planned_launches(campaign, archive);
    selection.apply(campaign, planned);
    require_launchable(place, campaign, planned);
    return campaign;
  };
  Campaign campaign = planned_campaign();
  if (options.dry_run) {
    const Submission plan = plan_submission(campaign, archive, settings);
    print_if_read([&] { show_plan(campaign, plan, selection, options.json, by_login); });
    return exit_done;
  }
  // Who submits the same at the same time may have begun it meanwhile, and then its seed holds.
  std::optional<CampaignFolders> folders(std::in_place, archive, campaign.id);
  while (!begin_campaign(campaign, archive, place.launcher->card().name)) {
    campaign = planned_campaign();
    folders.emplace(archive, campaign.id);
  }
  keep_suite(campaign, archive);
  while (true) {
    const Submission done = submit_once(campaign, archive, settings);
    print_if_read([&] { show_submission(campaign, done, options.json); });
    if (!done.problem.empty())
      throw EnvironmentError(fmt::format("{}; the same command goes on with the rest", done.problem));
    settings.retry.clear();  // once is enough
    if (!options.wait) return exit_done;
    do {
      rest(query_interval_s);
      if (!goes_on(campaign, archive, settings)) return exit_done;
    } while (std::ranges::any_of(known_jobs(archive, {campaign.id}).jobs, &KnownJob::lives) && machine.most_jobs == 0);
    require_progress(done, campaign, archive);
  }
}

Command submit_command() {
  return {"submit", "Submit what a suite still lacks as jobs of a scheduler",
          "  fourscore submit strong-nodes --machine cpu-cluster --dry-run    # shows the scripts\n"
          "  fourscore submit strong-nodes --machine cpu-cluster\n"
          "  fourscore submit strong-nodes --machine cpu-cluster --wait       # and again, until nothing is missing\n"
          "  fourscore submit strong-nodes --machine cpu-cluster --only nodes=4 --time-limit 00:30:00\n"
          "The same command submits what is missing, and nothing that is in a job already.\n",
          22, with_options<SubmitOptions>(submit, [](CLI::App& app, SubmitOptions& options) {
            add_campaign_options(app, options);
            app.add_option("--time-limit", options.time_limit,
                           "of one job: 02:00:00, or seconds (default: the machine file's)")
                ->type_name("TIME");
            app.add_flag("--wait", options.wait,
                         "stay, and submit again what jobs could not finish, until nothing is missing");
          })};
}

FOURSCORE_REGISTER_COMMAND(submit_command);

}  // namespace
}  // namespace fourscore
