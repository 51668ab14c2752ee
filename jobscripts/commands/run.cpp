// fourscore run: launch what a suite still lacks.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "core/point_keys.hpp"
#include "core/record.hpp"
#include "hwcounters/cache_geometry.hpp"
#include "hwcounters/group.hpp"
#include "jobscripts/bench_words.hpp"
#include "jobscripts/campaign.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/launchers/launcher.hpp"
#include "jobscripts/output.hpp"
#include "jobscripts/paths.hpp"
#include "jobscripts/place.hpp"
#include "jobscripts/retry.hpp"
#include "jobscripts/runner.hpp"
#include "jobscripts/selection.hpp"
#include "jobscripts/summary.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct RunOptions {
  std::string suite;
  std::string size;  ///< empty: the suite's default
  PlaceRequest place;
  std::string archive;
  std::string bench;
  CampaignRequest campaign;
  CounterChoice counters{"", "", ""};  ///< what is empty is the suite's
  std::vector<std::string> retry;
  std::vector<std::string> only;
  int launches = 0;
  std::size_t max_launches = 0;
  bool dry_run = false;
  bool quiet = false;
  bool json = false;
};

std::string one_line(const Point& point) {
  const std::string ranks = fmt::format("{} rank{}", point.ranks, point.ranks == 1 ? "" : "s");
  if (!point.component.empty())
    return fmt::format("{}, {}{}{}", point.component, ranks, point.problem.parameters.empty() ? "" : ",",
                       parameters_text(point));
  std::string line;
  for (const std::string_view key : {"variant", "exchange", "shape", "precision", "kind", "direction"})
    line += point_value(point, key) + " ";
  line.back() = ',';
  return fmt::format("{} {}, grid {}, {} {} {}{}{}", line, ranks, point_value(point, "grid"),
                     point_value(point, "layout"), point_value(point, "buffers"), point_value(point, "planner"),
                     further_values(point, {"variant", "exchange", "shape", "precision", "kind", "direction", "ranks",
                                            "grid", "layout", "buffers", "planner"}),
                     parameters_text(point));
}

/// ", size here (also: paper)" of a suite that has sizes.
std::string size_text(const Suite& suite) {
  if (suite.sizes.empty()) return {};
  std::string others;
  for (const auto& size : suite.sizes)
    if (size != suite.size) others += (others.empty() ? " (also: " : ", ") + size;
  return fmt::format(", size {}{}", suite.size, others.empty() ? "" : others + ")");
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
    json skipped = json::array();
    for (const auto& point : campaign.points)
      if (!point.skip_reason.empty())
        skipped.push_back({{"point_id", point.id}, {"point", point_json(point.point)}, {"reason", point.skip_reason}});
    json result{{"campaign", campaign.id},
                {"seed", campaign.seed},
                {"launches", launches},
                {"skipped", skipped},
                {"dropped_oversubscribed", campaign.suite.dropped_oversubscribed}};
    result.update(size_json(campaign.suite));
    fmt::print("{}\n", result.dump(2));
    return;
  }
  for (const auto& launch : planned) {
    InterruptGuard::check();
    fmt::print("{:>5} {:<4} {}, launch {}\n", launch.order, launch.done ? "done" : "",
               one_line(campaign.points[launch.point].point), launch.launch);
  }
  for (const auto& point : campaign.points)
    if (!point.skip_reason.empty() && selection.takes(point.point, 0))
      fmt::print("    - skip {}: {}\n", one_line(point.point), point.skip_reason);
  fmt::print("Campaign {}{}: {} launches, {} done. Nothing was written.\n", campaign.id, size_text(campaign.suite),
             planned.size(), done);
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
    fmt::print("{}\n", result.dump(2, ' ', false, json::error_handler_t::replace));
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

/// The suite's counters, with what the command line says instead. Checked before anything is launched.
void choose_counters(RunOptions& options, const Suite& suite) {
  const CounterChoice& asked = options.counters;
  CounterChoice choice = suite.counters;
  // A group or a cache belongs to the counters it was chosen with.
  if (!asked.counters.empty() && asked.counters != choice.counters) choice = {asked.counters, "", ""};
  if (!asked.group.empty()) choice.group = asked.group;
  if (!asked.cache.empty()) choice.cache = asked.cache;
  if (choice.counters != CounterChoice{}.counters &&
      std::all_of(suite.points.begin(), suite.points.end(), [](const Point& p) { return !p.component.empty(); }))
    throw InputError(fmt::format("counters '{}': {} has no [[sweep]], and components alone are not counted",
                                 choice.counters, suite.file.string()));
  try {
    const CounterBackend& backend = CounterRegistry::instance().at(choice.counters);
    if (backend.default_group().empty()) {
      if (!choice.group.empty() || !choice.cache.empty())
        throw InputError("--counter-group and --counter-cache want counters; as in --counters callgrind");
    } else {
      if (!choice.cache.empty() && !backend.simulates())
        throw InputError(fmt::format("--counter-cache: counters '{}' simulate no cache", choice.counters));
      const bool by_default = choice.group.empty() || choice.group == backend.default_group();
      if (const std::string reason = backend.unavailable(); !reason.empty() && by_default)
        throw EnvironmentError(fmt::format("counters '{}' are not available here: {}", choice.counters, reason));
      CounterRequest request{choice.counters, choice.group, {}, {}};
      if (!choice.cache.empty()) request.cache = parse_cache_geometry(choice.cache);
      (void)find_group(backend, request);
      (void)backend.simulated_cache(request);
    }
  } catch (const CounterRequestError& error) {
    throw InputError(error.what());
  }
  options.campaign.counters = choice;
}

/// Throws InputError for the first point that is to be launched and cannot be here.
void require_launchable(const Place& place, const Campaign& campaign, const Archive& archive,
                        const Selection& selection) {
  auto planned = planned_launches(campaign, archive);
  selection.apply(campaign, planned);
  std::set<std::size_t> points;
  for (const auto& launch : planned)
    if (!launch.done) points.insert(launch.point);
  for (const std::size_t index : points) {
    const Point& point = campaign.points[index].point;
    const std::string reason = refusal(place, launch_request(point));
    if (!reason.empty())
      throw InputError(
          fmt::format("{}, {} node{}: {}", one_line(point), point.nodes, point.nodes == 1 ? "" : "s", reason));
  }
}

int run(RunOptions options) {
  const InterruptGuard guard;
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has gone is no reason to end a campaign
  const Place place = find_place(options.place);
  tell_interconnect(place.options.machine);
  const Archive archive(fs::absolute(archive_folder(options.archive, place.options.machine.archive)));
  RunSettings settings;
  settings.launcher = place.launcher;
  settings.launcher_options = place.options;
  BenchWords words(options.bench);
  Suite suite = load_suite(find_suite(options.suite), place.size, words, options.size);
  choose_counters(options, suite);
  settings.max_launches = options.max_launches;
  settings.quiet = options.quiet;
  settings.retry = {options.retry.begin(), options.retry.end()};
  const Selection selection(options.only, options.launches);
  const Campaign campaign = plan_campaign(std::move(suite), options.bench, archive, options.campaign);
  selection.require_points(campaign);
  settings.select = [&](std::vector<PlannedLaunch>& planned) { selection.apply(campaign, planned); };
  InterruptGuard::check();
  if (options.dry_run) {
    print_if_read([&] { dry_run(campaign, archive, settings.retry, selection, options.json); });
    return exit_done;
  }
  require_launchable(place, campaign, archive, selection);
  const std::string launcher = place.launcher->card().name;
  if (const std::string problem = place.launcher->unavailable(place.options); !problem.empty())
    throw EnvironmentError(fmt::format("launcher '{}': {}", launcher, problem));

  archive.create_campaign(campaign.id);
  const CampaignLock lock(archive, campaign.id);
  sweep(archive, campaign.id);
  write_campaign(campaign, archive, launcher);
  CampaignRunner runner(campaign, archive, settings);
  const bool finished = runner.run();
  const CampaignSummary summary = summarise(archive, campaign.id);
  print_if_read([&] { print_result(options, campaign, archive, summary, selection, runner.warnings(), !finished); });
  if (!finished) return exit_interrupted;
  if (const auto failed = runner.not_started(); !failed.empty()) {
    say("fourscore: {} launches did not start and nothing of them is archived; the last one: {}\n", failed.size(),
        failed.back());
    return exit_environment;
  }
  return summary.has_bad() ? exit_says_no : exit_done;
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
          "  fourscore run variants --only variant=pencil,ranks=2 --launches 1\n"
          "Interrupt it at any time; the same command goes on with what is missing.\n",
          20, [](CLI::App& app) -> std::function<int()> {
            auto options = std::make_shared<RunOptions>();
            app.add_option("suite", options->suite, "a suite's file, or its name (`fourscore list suites`)")
                ->required()
                ->type_name("SUITE");
            app.add_option(
                   "--size", options->size,
                   "which of the suite's sizes, where it has several (`fourscore list suites`): papers/... have "
                   "here, the default, and paper")
                ->type_name("SIZE");
            app.add_option("--machine", options->place.machine,
                           "a machine file, or its name (`fourscore machine list`): nodes, cores, launcher, archive "
                           "(default: $FOURSCORE_MACHINE, else this machine)")
                ->type_name("NAME");
            app.add_option("--launcher", options->place.launcher,
                           "how to start MPI programs (`fourscore list launchers`; default: the machine file's, else "
                           "local)")
                ->type_name("NAME");
            add_archive_option(app, options->archive);
            app.add_option("--campaign", options->campaign.name,
                           "name of the campaign (default: from suite, program and machine)")
                ->type_name("NAME");
            app.add_flag("--fresh", options->campaign.fresh, "begin anew beside an existing campaign");
            app.add_option("--counters", options->counters.counters,
                           "what counts, in place of the suite's choice (`fourscore list counters`)")
                ->type_name("NAME");
            app.add_option("--counter-group", options->counters.group, "its events, in place of the suite's choice");
            app.add_option("--counter-cache", options->counters.cache,
                           "SIZE[,WAYS[,LINE]] of a simulated cache, in place of the suite's choice");
            app.add_option("--retry", options->retry,
                           "measure launches again that ended so: failed, timeout. The new records stand in for the "
                           "old ones, which stay")
                ->delimiter(',')
                ->type_name("STATUS")
                ->check(CLI::IsMember(retried_statuses()));
            app.add_option("--only", options->only,
                           "launch only points with these values, keys as in suites: variant=pencil,ranks=4; of values "
                           "of one key any will do. The rest of the campaign stays missing")
                ->delimiter(',')
                ->type_name("KEY=VALUE");
            app.add_option("--launches", options->launches, "launch each point at most so often, in all")
                ->check(CLI::PositiveNumber);
            app.add_option("--max-launches", options->max_launches, "stop after so many launches")
                ->check(CLI::PositiveNumber);
            app.add_option("--bench", options->bench,
                           "the fft_bench to launch (default: $FOURSCORE_BENCH, else beside this program)")
                ->type_name("FILE");
            app.add_option("--mpirun", options->place.mpirun,
                           "the mpirun to use (default: $FOURSCORE_MPIEXEC, else the configured one)")
                ->type_name("FILE");
            app.add_flag("--dry-run", options->dry_run, "list the launches in order and what is done; write nothing");
            app.add_flag("--quiet", options->quiet, "no progress");
            add_json_option(app, options->json);
            return [options] { return run(*options); };
          }};
}

FOURSCORE_REGISTER_COMMAND(run_command);

}  // namespace
}  // namespace fourscore
