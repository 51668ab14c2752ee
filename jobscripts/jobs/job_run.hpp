#pragma once
// A job at work: which of its campaign's launches are its own, how long it has left, and on which nodes each goes.

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "jobscripts/campaigns/runner.hpp"
#include "jobscripts/jobs/estimates.hpp"
#include "jobscripts/jobs/job_folder.hpp"

namespace fourscore {

class JobRun : public LaunchWatch {
 public:
  /// Throws InputError where the campaign has no such job, or it was given up.
  JobRun(const Campaign& campaign, const Archive& archive, const std::string& name);
  ~JobRun() override;
  JobRun(const JobRun&) = delete;
  JobRun& operator=(const JobRun&) = delete;

  /// Writes its beginning into the journal. Throws InputError where it was given up meanwhile.
  void begin();
  /// Keeps the launches that are this job's, adding retries.
  void select(std::vector<PlannedLaunch>& planned) const;

  [[nodiscard]] bool may_start(const PlannedLaunch& launch) override;
  [[nodiscard]] std::optional<double> left_s() const override;
  [[nodiscard]] std::vector<std::string> hosts(const Point& point) override;
  void begins(const PlannedLaunch& launch) override;
  void ended(const PlannedLaunch& launch, double wall_s, bool archived) override;
  void cut(const PlannedLaunch& launch) override;

  /// Launches that were left for another job, because the time did not suffice.
  [[nodiscard]] std::size_t left_alone() const { return left_alone_; }

 private:
  const Campaign& campaign_;
  const Archive& archive_;
  JobFolder folder_;
  JobDescription description_;
  Estimates estimates_;
  std::optional<Allocation> allocation_;
  double deadline_s_ = 0;  ///< since the epoch; 0: none
  std::mt19937_64 random_;
  std::size_t left_alone_ = 0;
  bool begun_ = false;
};

}  // namespace fourscore
