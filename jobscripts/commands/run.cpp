// fourscore run: launch what a suite still lacks.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "core/record.hpp"
#include "core/statistics.hpp"
#include "jobscripts/base/output.hpp"
#include "jobscripts/campaigns/campaign_lock.hpp"
#include "jobscripts/campaigns/launches_of_job.hpp"
#include "jobscripts/campaigns/retry.hpp"
#include "jobscripts/campaigns/runner.hpp"
#include "jobscripts/campaigns/summary.hpp"
#include "jobscripts/commands/campaign_options.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/commands/comparing.hpp"
#include "jobscripts/jobs/job_run.hpp"
#include "jobscripts/jobs/job_states.hpp"
#include "jobscripts/machines/archive_folder.hpp"
#include "jobscripts/machines/place.hpp"
#include "jobscripts/programs/bench.hpp"
#include "results/archive.hpp"
#include "results/export.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct RunOptions : CampaignOptions {
  std::string against;
  std::size_t max_launches = 0;
  std::size_t launches_per_job = 1;
  std::string job;
  bool quiet = false;
  bool fom = false;
};

/// Lines "fom SERIES KEY VALUE" of every point (docs/commands.md).
std::string figures_of(const CampaignSummary& summary) {
  std::string text;
  for (const SummaryGroup& group : summary.groups)
    for (const PointSummary& point : group.points) {
      const std::string head = "fom " + printable(benchmark_name(point.point));
      const bool ok = point.statuses.size() == 1 && point.statuses.contains("ok");
      const bool is_foreign = std::ranges::find(point.flags, "foreign") != point.flags.end();
      std::string statuses;
      for (const auto& [status, count] : point.statuses) statuses += (statuses.empty() ? "" : ",") + status;
      text += fmt::format("{} status {}\n", head, ok ? "ok" : statuses);
      text += fmt::format("{} verified {}\n", head, ok && !is_foreign ? "yes" : "no");
      if (point.launch_medians_s.empty()) continue;
      text += fmt::format("{0} launches {1}\n{0} time_s {2:.9g}\n{0} gflops {3:.6g}\n{0} flags {4}\n", head,
                          point.launch_medians_s.size(), median(point.launch_medians_s), point.gflops,
                          point.flags.empty() ? "none" : fmt::format("{}", fmt::join(point.flags, ",")));
    }
  return text;
}

void dry_run(const Campaign& campaign, const Archive& archive, const std::set<std::string>& retry,
             const Selection& selection, bool as_json) {
  auto planned = planned_launches(campaign, archive);
  if (!retry.empty())
    for (auto& again : planned_retries(campaign, archive, retry)) planned.push_back(std::move(again));
  selection.apply(campaign, planned);
  std::size_t done = 0;
  for (const auto& launch : planned) done += launch.done ? 1 : 0;
  if (as_json) {
    json launches = json::array();
    for (const auto& launch : planned)
      launches.push_back({{"point_id", campaign.points[launch.point].id},
                          {"point", point_json(campaign.points[launch.point].point)},
                          {"launch", launch.launch},
                          {"done", launch.done}});
    json result{{"campaign", campaign.id},
                {"seed", campaign.seed},
                {"launches", launches},
                {"skipped", skipped_json(campaign)},
                {"dropped_oversubscribed", campaign.suite.dropped_oversubscribed}};
    result.update(size_json(campaign.suite));
    print_json(result);
    return;
  }
  for (const auto& launch : planned) {
    InterruptGuard::check();
    fmt::print("{:>5} {:<4} {}, launch {}\n", launch.order, launch.done ? "done" : "",
               one_line(campaign.points[launch.point].point), launch.launch);
  }
  fmt::print("{}Campaign {}{}: {} launches, {} done. Nothing was written.\n", skipped_lines(campaign, selection),
             campaign.id, size_text(campaign.suite), planned.size(), done);
  if (!campaign.exists && campaign.suite.seed == 0)
    fmt::print("The suite has no seed: the order is drawn anew when the campaign starts.\n");
}

void print_result(const RunOptions& options, const Campaign& campaign, const Archive& archive,
                  const CampaignSummary& summary, const Selection& selection, const std::vector<std::string>& warnings,
                  bool interrupted) {
  auto planned = planned_launches(campaign, archive);
  const auto missing_of = [](const std::vector<PlannedLaunch>& list) {
    return std::ranges::count(list, false, &PlannedLaunch::done);
  };
  const auto missing = missing_of(planned);
  selection.apply(campaign, planned);
  const auto missing_here = missing_of(planned);
  if (options.json) {
    json result = summary_json(summary);
    result.update({{"campaign", campaign.id},
                   {"archive", archive.root().string()},
                   {"seed", campaign.seed},
                   {"missing", missing},
                   {"dropped_oversubscribed", campaign.suite.dropped_oversubscribed},
                   {"warnings", warnings},
                   {"interrupted", interrupted}});
    result.update(size_json(campaign.suite));
    print_json(result);
  } else if (options.fom) {
    fmt::print("{}", figures_of(summary));
  } else {
    fmt::print("\nCampaign {}{} in {}\n{}", campaign.id, size_text(campaign.suite), archive.root().string(),
               summary_table(summary));
    if (campaign.suite.dropped_oversubscribed > 0)
      fmt::print("{} points were dropped: more than {} threads per core (max_oversubscription)\n",
                 campaign.suite.dropped_oversubscribed, campaign.suite.max_oversubscription);
  }
  for (const auto& warning : warnings) say("warning: {}\n", printable(warning));
  if (missing_here > 0 || interrupted)
    say("{}{} launches are missing; the same command goes on with them.\n", interrupted ? "Interrupted: " : "",
        missing_here);
  if (missing > missing_here)
    say("{} launches of the campaign were not selected and are missing.\n", missing - missing_here);
}

/// A run by hand beside jobs of the same campaign would measure them, and be measured by them.
void require_no_jobs(const Archive& archive, const std::string& campaign) {
  if (jobs_of(archive, campaign).empty()) return;
  for (const KnownJob& job : known_jobs(archive, {campaign}, 0).jobs)
    if (job.lives())
      throw InputError(
          fmt::format("campaign {} has job {} ({}), which is {}; expected none: wait for it, or "
                      "`fourscore cancel {}`",
                      campaign, job.id, job.folder.name(), to_string(job.state.phase), campaign));
}

int exit_of(const CampaignRunner& runner, bool finished, bool has_bad) {
  if (!finished) return exit_interrupted;
  if (const auto failed = runner.not_started(); !failed.empty()) {
    say("fourscore: {} launches did not start and nothing of them is archived; the last one: {}\n", failed.size(),
        failed.back());
    return exit_environment;
  }
  return has_bad ? exit_says_no : exit_done;
}

/// The folder of one job among others; what an earlier start of it left there is removed.
void make_staging(const Archive& archive, const std::string& campaign, const std::string& job) {
  const fs::path staging = archive.campaign_folder(campaign) / "staging" / job;
  std::error_code ignored;
  fs::remove_all(staging, ignored);
  make_folder(staging);
}

/// What a job does: its launches, as far as its time goes. That a result is bad is no failure of the job.
int run_job(const RunOptions& options, const Place& place, const Campaign& campaign, const Archive& archive,
            RunSettings settings) {
  const CampaignFolders folders(archive, campaign.id);
  const CampaignLock lock(archive, campaign.id, CampaignLock::Kind::shared);
  JobRun job(campaign, archive, options.job);
  make_staging(archive, campaign.id, options.job);
  job.begin();
  settings.job = options.job;
  settings.watch = &job;
  settings.select = [&](std::vector<PlannedLaunch>& planned) {
    job.select(planned);
    require_launchable(place, campaign, planned);
  };
  CampaignRunner runner(campaign, archive, settings);
  const bool finished = runner.run();
  for (const auto& warning : runner.warnings()) say("warning: {}\n", printable(warning));
  if (job.left_alone() > 0)
    say("{} launches are left for another job: the time did not suffice; `fourscore submit` again\n", job.left_alone());
  return exit_of(runner, finished, false);
}

/// Empty outside jobs.
std::string first_host_of_this_job() {
  const auto allocation = current_allocation();
  if (!allocation) return {};
  return allocation->hosts.empty() ? this_host() : allocation->hosts.front();
}

/// The size that a campaign is expanded for: in a job the machine's, of which the job is a part.
MachineSize size_of(const RunOptions& options, const Place& place) {
  return options.job.empty() ? place.size : whole_machine(place);
}

/// The suite of another build and of this one, in pairs, and the verdict.
int run_against(const RunOptions& options) {
  if (!options.retry.empty() || !options.job.empty() || options.max_launches > 0 || options.launches_per_job > 1 ||
      options.json)
    throw InputError(
        "--against excludes --retry, --job, --max-launches, --launches-per-job and --json; `fourscore compare --json "
        "FILE`");
  const auto base = installed_build(options.against);
  if (!base)
    throw InputError(
        fmt::format("--against is '{}'; expected an fft_bench, or a folder with one; `fourscore compare` "
                    "also takes revisions",
                    options.against));
  MeasuredRequest request;
  request.campaign = options;
  request.campaign.launches = 0;
  request.pairs = options.launches;
  request.base = *base;
  request.candidate = {"this build", find_bench(options.bench)};
  request.quiet = options.quiet;
  return compare_builds(request, {"compare"});
}

int run(RunOptions options) {
  const InterruptGuard guard;
  if (!options.against.empty()) return run_against(options);
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has gone is no reason to end a campaign
  const Place place = find_place(options.place);
  tell_interconnect(place);
  if (options.bench.empty() && place.launcher->simulates()) {
    require_available(place);
    options.bench = place.launcher->own_bench()->string();
  }
  const Archive archive(fs::absolute(archive_folder(options.archive, place.options.machine.archive)), options.access());
  const MachineSize size = size_of(options, place);
  options.campaign.machine = campaign_machine_json(place.options.machine, size);
  const Suite suite = chosen_suite(options, size);
  Campaign campaign = plan_campaign(suite, options.bench, archive, options.campaign);
  const Selection selection(options.only, options.launches);
  selection.require_points(campaign);
  RunSettings settings;
  settings.launcher = place.launcher;
  settings.launcher_options = place.options;
  settings.max_launches = options.max_launches;
  settings.launches_per_job = options.launches_per_job;
  if (const auto reason = why_one_launch_a_job(campaign, settings); reason && options.launches_per_job > 1)
    throw InputError(
        fmt::format("--launches-per-job is {}, but each launch of this campaign takes a job of its own: {}",
                    options.launches_per_job, *reason));
  settings.quiet = options.quiet;
  settings.retry = {options.retry.begin(), options.retry.end()};
  settings.select = [&](std::vector<PlannedLaunch>& planned) { selection.apply(campaign, planned); };
  InterruptGuard::check();
  if (options.dry_run) {
    print_if_read([&] { dry_run(campaign, archive, settings.retry, selection, options.json); });
    return exit_done;
  }
  if (!options.job.empty()) {
    require_launcher(place, campaign);
    return run_job(options, place, campaign, archive, std::move(settings));
  }
  auto planned = planned_launches(campaign, archive);
  selection.apply(campaign, planned);
  require_launchable(place, campaign, planned);
  require_launcher(place, campaign);

  const CampaignFolders folders(archive, campaign.id);
  // Runs within jobs, as of an array, are beside each other: each on its own hosts.
  const std::string host = first_host_of_this_job();
  const CampaignLock lock(archive, campaign.id, host.empty() ? CampaignLock::Kind::alone : CampaignLock::Kind::shared,
                          host);
  require_no_jobs(archive, campaign.id);
  if (!host.empty()) {
    settings.job = "of-" + host;
    make_staging(archive, campaign.id, settings.job);
  } else {
    sweep(archive, campaign.id);
  }
  options.campaign.name = campaign.id;
  options.campaign.fresh = false;
  while (!begin_campaign(campaign, archive, place.launcher->card().name))
    campaign = plan_campaign(suite, options.bench, archive, options.campaign);
  CampaignRunner runner(campaign, archive, settings);
  const bool finished = runner.run();
  const CampaignSummary summary = summarise(archive, campaign.id);
  print_if_read([&] { print_result(options, campaign, archive, summary, selection, runner.warnings(), !finished); });
  return exit_of(runner, finished, summary.has_bad());
}

Command run_command() {
  return {"run", "Launch every point of a suite that is not archived yet",
          "  fourscore run smoke\n"
          "  fourscore run suites/strong.toml --archive results-2026 --dry-run\n"
          "  fourscore run peers --campaign before-the-change\n"
          "  fourscore run traffic --counter-cache 1MiB\n"
          "  fourscore run papers/lee2018/table-2.1 --size paper\n"
          "  fourscore run strong --retry failed,timeout\n"
          "  fourscore run strong-nodes --machine cpu-cluster    # in a job: by its launcher, on the job's nodes\n"
          "  fourscore run gate --against /opt/before/bin/fft_bench\n"
          "  fourscore run variants --only variant=pencil,ranks=2 --launches 1\n"
          "Interrupt it at any time; the same command goes on with what is missing.\n",
          20, with_options<RunOptions>(run, [](CLI::App& app, RunOptions& options) {
            add_campaign_options(app, options);
            app.add_option("--max-launches", options.max_launches, "stop after so many launches")
                ->check(CLI::PositiveNumber);
            CLI::Option* const together =
                app.add_option("--launches-per-job", options.launches_per_job,
                               "measure up to so many points on the same ranks one after another in one MPI job, where "
                               "it can be (docs/measuring.md)")
                    ->check(CLI::Range(1, 1000))
                    ->capture_default_str();
            app.add_flag("--quiet", options.quiet, "no progress");
            app.add_flag("--fom", options.fom,
                         "print figures of merit of every point in place of the table, as lines 'fom SERIES KEY VALUE'")
                ->excludes("--json");
            app.add_option("--against", options.against,
                           "measure the suite in pairs with this fft_bench, which is the base, and say what became "
                           "slower (docs/gate.md); --launches are then pairs")
                ->type_name("FILE");
            app.add_option("--suite-folder", options.suite_folder,
                           "the folder from which the suite names files (default: its own); in a job's script")
                ->type_name("FOLDER");
            app.add_option("--job", options.job, "launch what this job of `fourscore submit` holds; in its script")
                ->type_name("NAME")
                ->excludes(together);
          })};
}

FOURSCORE_REGISTER_COMMAND(run_command);

}  // namespace
}  // namespace fourscore
