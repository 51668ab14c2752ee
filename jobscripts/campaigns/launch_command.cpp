#include "jobscripts/campaigns/launch_command.hpp"

#include "core/environment.hpp"
#include "core/installed.hpp"
#include "core/moment.hpp"
#include "core/path_kind.hpp"
#include "core/point_keys.hpp"
#include "hwcounters/counter.hpp"
#include "jobscripts/suites/suite_program.hpp"

namespace fourscore {
namespace fs = std::filesystem;

namespace {

fs::path wisdom_file(const Campaign& campaign, const Archive& archive, const RunSettings& settings) {
  if (!settings.wisdom.empty()) return settings.wisdom;
  const std::string machine = campaign.machine_hash.empty() ? "unknown" : campaign.machine_hash;
  if (campaign.suite.wisdom == Wisdom::machine) return archive.wisdom_file(machine);
  return archive.campaign_folder(campaign.id) / "wisdom.txt";
}

/// Where `fourscore counters qualify` leaves what it found about the suite's counters on this machine.
fs::path qualification_file(const Campaign& campaign, const Archive& archive) {
  const CounterChoice& choice = campaign.suite.counters;
  const std::string group = choice.group.empty() ? counter_backend(choice.counters).default_group() : choice.group;
  return archive.qualification_file(campaign.machine_hash, choice.counters, group);
}

}  // namespace

std::vector<std::string> program_command(const Campaign& campaign, const Archive& archive, const RunSettings& settings,
                                         const Point& point, const LaunchFiles& files) {
  const Suite& suite = campaign.suite;
  if (const auto* command = suite.command_of(point)) return filled_in(*command, point, suite.settings);
  std::vector<std::string> argv{campaign.programs.at(point.component).string()};
  for (auto& option : point_options(point)) argv.push_back(std::move(option));
  const auto add = [&argv](std::initializer_list<std::string> more) { argv.insert(argv.end(), more); };
  const bool of_component = !point.component.empty();
  Settings how = suite.settings;
  if (!campaign.counts(point)) how.idle_s = 0;
  for (auto& option : setting_options(how, of_component)) argv.push_back(std::move(option));
  add({"--record", files.record.string()});
  add({"--launcher", settings.launcher->card().name, "--launched-at", moment_text(this_moment())});
  add({"--started", files.started.string(), "--campaign-json", files.stamp.string()});
  if (of_component) return argv;
  add({"--verified-record", files.verified.string()});
  if (!files.checked_by.empty()) add({"--checked-by", files.checked_by.string()});
  for (const fs::path& plugin : suite.plugins) add({"--plugin", plugin.string()});
  argv.insert(argv.end(), settings.arguments.begin(), settings.arguments.end());
  if (campaign.counts(point)) {
    add({"--counters", suite.counters.counters});
    if (!suite.counters.group.empty()) add({"--counter-group", suite.counters.group});
    if (!suite.counters.cache.empty()) add({"--counter-cache", suite.counters.cache});
    // One's own fft_bench is in no prefix of fourscore's.
    if (const fs::path groups = installed_folder("groups"); !groups.empty() && environment("FOURSCORE_GROUPS").empty())
      add({"--counter-groups", groups.string()});
    if (const fs::path file = qualification_file(campaign, archive); names_something(file))
      add({"--qualification", file.string()});
  }
  const bool estimates = settings.launcher->simulates();  // there is nothing to keep
  if (suite.wisdom != Wisdom::none && !estimates) add({"--wisdom", wisdom_file(campaign, archive, settings).string()});
  return argv;
}

}  // namespace fourscore
