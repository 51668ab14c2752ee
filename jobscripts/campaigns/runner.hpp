#pragma once
// Launching what a campaign still lacks.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/record.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/base/progress.hpp"
#include "jobscripts/campaigns/campaign.hpp"
#include "jobscripts/campaigns/launch_records.hpp"
#include "jobscripts/launchers/launcher.hpp"

namespace fourscore {

/// A launch of the schedule, or the one record of a point that is not launched.
struct PlannedLaunch {
  std::size_t point = 0;
  int launch = 0;
  std::size_t order = 0;
  std::filesystem::path record;
  bool done = false;              ///< the record exists
  std::optional<int> retry_of{};  ///< the launch that this one stands in for
};

/// Who decides about launches beside the campaign, and wants to know of them: a job.
class LaunchWatch {
 public:
  virtual ~LaunchWatch() = default;
  /// False: the launch is left for another time.
  [[nodiscard]] virtual bool may_start(const PlannedLaunch& launch) = 0;
  /// Until everything must have ended; nothing: no such time.
  [[nodiscard]] virtual std::optional<double> left_s() const = 0;
  /// The nodes that a launch of the point takes; none: the launcher's choice.
  [[nodiscard]] virtual std::vector<std::string> hosts(const Point& point) = 0;
  virtual void begins(const PlannedLaunch& launch) = 0;
  /// It has ended by itself or at its own time limit, and not because everything had to.
  virtual void ended(const PlannedLaunch& launch, double wall_s, bool archived) = 0;
  /// It was ended because everything had to, before its own time limit.
  virtual void cut(const PlannedLaunch& launch) = 0;
};

struct RunSettings {
  const Launcher* launcher = nullptr;
  LauncherOptions launcher_options;
  std::size_t max_launches = 0;      ///< 0: all
  std::size_t launches_per_job = 1;  ///< at most so many of one number of ranks are made in one MPI job
  bool quiet = false;                ///< no progress on standard error
  std::set<std::string> retry;       ///< statuses whose launches are measured again
  /// Leaves only those that are wanted this time.
  std::function<void(std::vector<PlannedLaunch>&)> select;
  std::filesystem::path wisdom{};        ///< the file of plans to use in place of the suite's choice; empty: that
  std::vector<std::string> arguments{};  ///< further ones of fft_bench
  std::string side{};                    ///< "base" or "candidate", for the progress of a comparison
  std::string job{};             ///< whose launches these are: a job shares its campaign with others, and no index
  LaunchWatch* watch = nullptr;  ///< for the job
};

/// Launches of the schedule in order, and what of them is done.
[[nodiscard]] std::vector<PlannedLaunch> planned_launches(const Campaign& campaign, const Archive& archive);

/// Without the program that is to run.
[[nodiscard]] LaunchRequest launch_request(const Point& point);

class CampaignRunner {
 public:
  /// The caller holds the campaign's lock.
  CampaignRunner(const Campaign& campaign, const Archive& archive, const RunSettings& settings)
      : campaign_(campaign), archive_(archive), settings_(settings), records_(campaign, archive, settings) {}

  /// Writes the records of points that are not launched, then launches what is missing and what is to be retried.
  /// False when interrupted. Throws EnvironmentError when the launcher cannot be started.
  bool run();

  enum class Outcome { archived, interrupted, cut, not_started };
  /// What comes before any launch: indexes what a killed run could not, and writes the records of points that are not
  /// launched. False when interrupted.
  bool prepare();
  /// One launch, and a line about its end. `left_s` are expected to be left before it and after it; negative: unknown.
  Outcome launch_one(const PlannedLaunch& planned, Progress& progress, double left_s, double left_after_s);

  [[nodiscard]] std::vector<std::string> warnings() const { return warnings_; }
  /// Launches whose launcher ended before the program ran, each with its words: nothing of them is archived, the same
  /// command goes on with them. After so many in a row nothing more is launched:
  static constexpr int patience_with_the_launcher = 3;
  [[nodiscard]] std::vector<std::string> not_started() const { return not_started_; }

 private:
  enum class Went { through, interrupted, stopped };
  Went launch_all(const std::vector<PlannedLaunch>& planned, Progress& progress);
  bool write_skipped();
  Outcome launch(const PlannedLaunch& planned, Progress& progress);
  [[nodiscard]] std::string shown_point(const PlannedLaunch& planned) const;
  void show_end(const PlannedLaunch& planned, Progress& progress, double left_s);
  void warn_of_end(const PlannedLaunch& planned, const ProcessResult& result, Progress& progress);
  /// Several launches in one MPI job, which writes the record of each at once. One that does not come back ends it;
  /// what it did not begin is not archived, and launched later.
  Outcome launch_together(const std::vector<PlannedLaunch>& group, Progress& progress, double left_s);
  /// Runs the program as the launcher starts it on the point's ranks.
  ProcessSpec spec_of(const Point& point, std::vector<std::string> program) const;
  static void require_launcher_started(const ProcessSpec& spec, const ProcessResult& result);
  void note_not_started(const PlannedLaunch& planned, const ProcessResult& result, Progress& progress);
  void warn_of_failed_parts(const PlannedLaunch& planned, const nlohmann::json& record, Progress& progress);
  /// The launch after the one that ignored something finds a file that is in order.
  void warn_of_wisdom(const PlannedLaunch& planned, const nlohmann::json& record, Progress& progress);
  void index(const std::vector<std::filesystem::path>& files);
  [[nodiscard]] double left_s(const std::vector<PlannedLaunch>& planned, std::size_t from) const;

  const Campaign& campaign_;
  const Archive& archive_;
  const RunSettings& settings_;
  LaunchRecords records_;
  std::map<std::size_t, double> wall_s_;  ///< in each point's last launch
  std::size_t launched_ = 0;
  std::vector<std::string> warnings_;
  std::vector<std::string> not_started_;
};

}  // namespace fourscore
