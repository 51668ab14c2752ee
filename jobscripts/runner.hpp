#pragma once
// Launching what a campaign still lacks.

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "jobscripts/campaign.hpp"
#include "jobscripts/launchers/launcher.hpp"
#include "jobscripts/process.hpp"
#include "jobscripts/progress.hpp"

namespace fourscore {

struct RunSettings {
  const Launcher* launcher = nullptr;
  LauncherOptions launcher_options;
  std::size_t max_launches = 0;  ///< 0: all
  bool quiet = false;            ///< no progress on standard error
};

/// A launch of the schedule, or the one record of a point that is not launched.
struct PlannedLaunch {
  std::size_t point = 0;
  int launch = 0;
  std::size_t order = 0;
  std::filesystem::path record;
  bool done = false;  ///< the record exists
};

/// Launches in order, and what of them is done.
[[nodiscard]] std::vector<PlannedLaunch> planned_launches(const Campaign& campaign, const Archive& archive);

class CampaignRunner {
 public:
  /// The caller holds the campaign's lock.
  CampaignRunner(const Campaign& campaign, const Archive& archive, const RunSettings& settings)
      : campaign_(campaign), archive_(archive), settings_(settings) {}

  /// Writes the records of points that are not launched, then launches what is missing. False when interrupted.
  bool run();
  [[nodiscard]] std::vector<std::string> warnings() const { return warnings_; }

 private:
  void write_skipped();
  bool launch(const PlannedLaunch& planned, Progress& progress);
  [[nodiscard]] std::vector<std::string> program_command(const PlannedLaunch& planned,
                                                         const std::filesystem::path& stamp) const;
  [[nodiscard]] std::filesystem::path qualification_file() const;
  void archive_failure(const PlannedLaunch& planned, const ProcessResult& result, const std::string& started_at);
  /// Where a launch keeps its verified samples while it measures what follows them.
  [[nodiscard]] std::filesystem::path verified_file(const PlannedLaunch& planned) const;
  /// Whether the launch left verified samples there, which are then its record.
  bool archive_verified(const PlannedLaunch& planned, const ProcessResult& result, Progress& progress);
  void warn_of_failed_parts(const PlannedLaunch& planned, const nlohmann::json& record, Progress& progress);
  void store(const std::filesystem::path& file, const nlohmann::json& record) const;
  void index(const std::vector<std::filesystem::path>& files);
  [[nodiscard]] double left_s(const std::vector<PlannedLaunch>& planned, std::size_t from) const;
  [[nodiscard]] nlohmann::json provenance(const Point& point, const std::string& started_at) const;

  const Campaign& campaign_;
  const Archive& archive_;
  const RunSettings& settings_;
  std::map<std::size_t, double> wall_s_;  ///< of each point's last launch
  std::vector<std::string> warnings_;
};

}  // namespace fourscore
