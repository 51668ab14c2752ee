#include "jobscripts/commands/campaign_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/environment.hpp"
#include "core/point_keys.hpp"
#include "core/text.hpp"
#include "hwcounters/cache_geometry.hpp"
#include "hwcounters/group.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/campaigns/retry.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/programs/bench.hpp"
#include "jobscripts/programs/bench_words.hpp"
#include "jobscripts/suites/suite_files.hpp"

namespace fourscore {
namespace {

/// The suite's counters, with what the command line says instead. Checked before anything is launched.
void choose_counters(CampaignOptions& options, const Suite& suite) {
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
    const CounterBackend& backend = counter_backend(choice.counters);
    if (backend.default_group().empty()) {
      if (!choice.group.empty() || !choice.cache.empty())
        throw InputError("--counter-group and --counter-cache want counters; as in --counters callgrind");
    } else {
      if (!choice.cache.empty() && !backend.simulates())
        throw InputError(fmt::format("--counter-cache: counters '{}' simulate no cache", choice.counters));
      const bool by_default = choice.group.empty() || choice.group == backend.default_group();
      const bool needed = suite.counters_of.empty() || !asked.counters.empty();  // else the points are skipped
      if (needed && by_default) {  // the program that is to count knows; another project's has no build beside ours
        const auto said = Bench(find_bench(options.bench), suite.plugins).listed_unavailable(choice.counters);
        if (const std::string reason = said.value_or(backend.unavailable()); !reason.empty())
          throw EnvironmentError(fmt::format("counters '{}' are not available here: {}", choice.counters, reason));
      }
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

}  // namespace

void add_measuring_options(CLI::App& app, CampaignOptions& options) {
  app.add_option("--size", options.size,
                 "which of the suite's sizes, where it has several (`fourscore list suites`): papers/... have "
                 "here, the default, and paper")
      ->type_name("SIZE");
  app.add_option("--machine", options.place.machine,
                 "a machine file, or its name (`fourscore machine list`): nodes, cores, launcher, archive "
                 "(default: $FOURSCORE_MACHINE, else this machine)")
      ->type_name("NAME");
  app.add_flag("--repack", options.place.repacks,
               "place ranks on as few nodes as have a core for each thread, where the machine cannot have the nodes "
               "that the suite says (default: such points are skipped)");
  app.add_option("--launcher", options.place.launcher,
                 "how to start MPI programs (`fourscore list launchers`; default: the machine file's, else "
                 "local)")
      ->type_name("NAME");
  app.add_option("--campaign", options.campaign.name, "name of the campaign (default: from suite, program and machine)")
      ->type_name("NAME");
  app.add_flag("--fresh", options.campaign.fresh, "begin anew beside an existing campaign");
  app.add_option("--counters", options.counters.counters,
                 "what counts, in place of the suite's choice (`fourscore list counters`)")
      ->type_name("NAME");
  app.add_option("--counter-group", options.counters.group, "its events, in place of the suite's choice");
  app.add_option("--counter-cache", options.counters.cache,
                 "SIZE[,WAYS[,LINE]] of a simulated cache, in place of the suite's choice");
  app.add_option("--only", options.only,
                 "launch only points with these values, keys as in suites, or with a tag of the suite: "
                 "variant=pencil,ranks=4,tag=grids; of values of one key any will do. The rest of the campaign "
                 "stays missing")
      ->delimiter(',')
      ->type_name("KEY=VALUE");
  add_mpirun_option(app, options.place.mpirun);
  app.add_flag("--dry-run", options.dry_run, "show what would be done; write nothing");
}

void add_campaign_options(CLI::App& app, CampaignOptions& options) {
  app.add_option("suite", options.suite, "a suite's file, or its name (`fourscore list suites`)")
      ->required()
      ->type_name("SUITE");
  add_measuring_options(app, options);
  add_archive_option(app, options.archive);
  app.add_option("--retry", options.retry,
                 "measure launches again that ended so: failed, timeout; or whose records are unreadable. The new "
                 "records stand in for the old ones, which stay")
      ->delimiter(',')
      ->type_name("STATUS")
      ->check(CLI::IsMember(retried_statuses()));
  app.add_option("--launches", options.launches, "launch each point at most so often, in all")
      ->check(CLI::PositiveNumber);
  add_bench_option(app, options.bench);
  add_plugin_option(app, options.plugins);
  app.add_option("--revision", options.campaign.revision,
                 "of the plugin or program that is measured, as its repository names it: `fourscore history` shows it "
                 "in place of fourscore's own")
      ->type_name("TEXT");
  app.add_option("--program", options.program, "the program that prints its times (default: the suite's)")
      ->type_name("FILE");
  add_json_option(app, options.json);
}

void add_plugin_option(CLI::App& app, std::vector<std::filesystem::path>& plugins) {
  app.add_option("--plugin", plugins,
                 "a library with the functions of fourscore.h, whose transforms are variants too; may be repeated "
                 "(default: the suite's)")
      ->type_name("FILE");
}

void use_program(Suite& suite, const std::filesystem::path& file) {
  if (file.empty()) return;
  if (suite.programs.size() != 1)
    throw InputError(fmt::format("--program: {} has {} with key 'program'; expected one", suite.file.string(),
                                 plural(suite.programs.size(), "variant")));
  if (!is_program(file)) throw InputError(fmt::format("--program: {} is no program", file.string()));
  suite.programs.begin()->second.front() = std::filesystem::absolute(file).string();
}

Suite chosen_suite(CampaignOptions& options, MachineSize size) {
  for (auto& plugin : options.plugins) plugin = std::filesystem::absolute(plugin);  // ranks start in other folders
  BenchWords words(options.bench, options.plugins);
  Suite suite = load_suite(find_suite(options.suite), size, words, options.size, options.suite_folder);
  suite.plugins = words.plugins();
  use_program(suite, options.program);
  choose_counters(options, suite);
  return suite;
}

nlohmann::json campaign_machine_json(const Machine& machine, MachineSize size) {
  nlohmann::json said;
  if (!machine.file.empty()) said = {{"name", machine.name}, {"nodes", size.nodes}, {"cores", size.cores}};
  if (size.repacks) said["repacked"] = true;
  return said;
}

void require_launchable(const Place& place, const Campaign& campaign, const std::vector<PlannedLaunch>& planned) {
  std::set<std::size_t> points;
  for (const auto& launch : planned)
    if (!launch.done) points.insert(launch.point);
  for (const std::size_t index : points) {
    const Point& point = campaign.points[index].point;
    if (const auto reason = refusal(place, launch_request(point)))
      throw InputError(fmt::format("{}, {}: {}", one_line(point), plural(point.nodes, "node"), *reason));
  }
}

void require_launcher(const Place& place, const Campaign& campaign) {
  require_available(place);
  for (const auto& [program, identity] : campaign.identities) {
    const std::string mpi = identity.value("/identity/code/mpi"_json_pointer, "");
    if (const auto reason = place.launcher->refuses_mpi(place.options, mpi))
      throw EnvironmentError(fmt::format("launcher '{}': {}: {}", place.launcher->card().name,
                                         program.empty() ? "fft_bench" : program, *reason));
  }
}

nlohmann::json skipped_json(const Campaign& campaign) {
  auto skipped = nlohmann::json::array();
  for (const auto& point : campaign.points)
    if (!point.skip_reason.empty())
      skipped.push_back({{"point_id", point.id}, {"point", point_json(point.point)}, {"reason", point.skip_reason}});
  return skipped;
}

std::string skipped_lines(const Campaign& campaign, const Selection& selection) {
  std::string lines;
  for (const auto& point : campaign.points)
    if (!point.skip_reason.empty() && selection.takes(point, 0))
      lines += fmt::format("    - skip {}: {}\n", one_line(point.point), point.skip_reason);
  return lines;
}

std::string one_line(const Point& point) {
  const std::string ranks = plural(point.ranks, "rank");
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

}  // namespace fourscore
