#pragma once
// What `run` and `submit` are asked alike: which campaign, at which place, and which of its launches.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "jobscripts/campaigns/campaign.hpp"
#include "jobscripts/campaigns/selection.hpp"
#include "jobscripts/machines/place.hpp"

namespace fourscore {

struct CampaignOptions {
  std::string suite;
  std::string size;                    ///< empty: the suite's default
  std::filesystem::path suite_folder;  ///< from which it names files; empty: its own
  PlaceRequest place;
  std::string archive;
  std::string bench;
  std::vector<std::filesystem::path> plugins;  ///< in place of the suite's
  std::filesystem::path program;               ///< in place of the suite's one program that prints its times
  CampaignRequest campaign;
  CounterChoice counters{"", "", ""};  ///< what is empty is the suite's
  std::vector<std::string> retry;
  std::vector<std::string> only;
  int launches = 0;
  bool dry_run = false;
  bool json = false;

  [[nodiscard]] Archive::Access access() const { return dry_run ? Archive::Access::read_only : Archive::Access::full; }
};

/// What is measured of a suite, and where, but for the archive; `options` must live until they are parsed.
void add_measuring_options(CLI::App& app, CampaignOptions& options);
/// Those, the archive, the suite, and which of its launches.
void add_campaign_options(CLI::App& app, CampaignOptions& options);

/// --plugin, of what asks fft_bench.
void add_plugin_option(CLI::App& app, std::vector<std::filesystem::path>& plugins);

/// The same as that program, for the suite. Throws InputError where it is none, or the suite has none or several.
void use_program(Suite& suite, const std::filesystem::path& file);

/// The suite expanded for a machine of this size, with the counters that were asked for, which go into
/// options.campaign. Throws InputError, EnvironmentError.
[[nodiscard]] Suite chosen_suite(CampaignOptions& options, MachineSize size);

/// Throws InputError for the first point that is to be launched and cannot be at this place.
void require_launchable(const Place& place, const Campaign& campaign, const std::vector<PlannedLaunch>& planned);

/// Throws EnvironmentError where the launcher cannot be used, or starts programs of another MPI than the campaign's.
void require_launcher(const Place& place, const Campaign& campaign);

/// What of a machine file decides what a campaign measures: it is part of the campaign's identity. Null without one.
[[nodiscard]] nlohmann::json campaign_machine_json(const Machine& machine, MachineSize size);

/// Points that are not launched, with the reason: of the whole campaign, and as lines, those that are selected.
[[nodiscard]] nlohmann::json skipped_json(const Campaign& campaign);
[[nodiscard]] std::string skipped_lines(const Campaign& campaign, const Selection& selection);

/// "slab alltoallv 64x64x64 double c2c forward, 4 ranks, ..."
[[nodiscard]] std::string one_line(const Point& point);
/// ", size here (also: paper)" of a suite that has sizes.
[[nodiscard]] std::string size_text(const Suite& suite);

}  // namespace fourscore
