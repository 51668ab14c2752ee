#pragma once
// What of a campaign's launches is archived, and where they leave what is not finished.

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "core/record.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/base/progress.hpp"
#include "jobscripts/campaigns/campaign.hpp"

namespace fourscore {

struct PlannedLaunch;
struct RunSettings;

/// The program of a point, as messages name it.
[[nodiscard]] std::string program_name(const Campaign& campaign, const Point& point);

/// A record with its columns; the point's id needs no program.
[[nodiscard]] nlohmann::json read_said(const std::filesystem::path& file);

/// All refer to the campaign, archive and settings of a CampaignRunner.
class LaunchRecords {
 public:
  LaunchRecords(const Campaign& campaign, const Archive& archive, const RunSettings& settings)
      : campaign_(campaign), archive_(archive), settings_(settings) {}

  [[nodiscard]] nlohmann::json stamp_of(const PlannedLaunch& planned) const;
  /// `time_limit_s`: of the MPI job that the launch was in.
  [[nodiscard]] Verdict failure(const PlannedLaunch& planned, const ProcessResult& result, double time_limit_s) const;
  void archive_failure(const PlannedLaunch& planned, const Verdict& verdict, const std::string& started_at) const;
  /// What a program that is not of the harness said, as a record.
  void archive_foreign(const PlannedLaunch& planned, const std::function<nlohmann::json()>& said,
                       const ProcessResult& result, const std::string& started_at) const;
  /// The record of an earlier launch of the point whose checks can stand for this one's, where the suite wants a point
  /// to be checked once; empty: none.
  [[nodiscard]] std::filesystem::path checked_by(const PlannedLaunch& planned) const;
  /// Where launches leave what is not finished: a folder for each job.
  [[nodiscard]] std::filesystem::path staging() const;
  /// Where a launch keeps its verified samples while it measures what follows them.
  [[nodiscard]] std::filesystem::path verified_file(const PlannedLaunch& planned) const;
  /// Whether the launch left verified samples there, which are then its record.
  bool archive_verified(const PlannedLaunch& planned, const ProcessResult& result, Progress& progress,
                        double time_limit_s) const;
  void store(const std::filesystem::path& file, const nlohmann::json& record) const;

 private:
  const Campaign& campaign_;
  const Archive& archive_;
  const RunSettings& settings_;
};

}  // namespace fourscore
