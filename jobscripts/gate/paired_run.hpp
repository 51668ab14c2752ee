#pragma once
// Launching the pairs of a comparison: at each moment one launch, base and candidate of a pair right after each other.

#include <map>
#include <string>
#include <vector>

#include "jobscripts/campaigns/runner.hpp"
#include "jobscripts/gate/comparison.hpp"

namespace fourscore {

class PairedRun {
 public:
  /// The caller holds the locks of both campaigns. Settings without what differs between the sides.
  PairedRun(const Comparison& comparison, const Campaign& base, const Campaign& candidate, const Archive& archive,
            const RunSettings& settings);

  /// Ids of points that both builds can measure, in the order of the suite.
  [[nodiscard]] const std::vector<std::string>& points() const { return points_; }
  /// Launches of the stage that are not archived.
  [[nodiscard]] std::size_t missing(const ComparisonStage& stage) const;
  /// Launches what is missing of the stage: rounds of one pair of each point in random order, in each pair base or
  /// candidate first at random; the same for the same seed. False when interrupted. Throws EnvironmentError when the
  /// launcher cannot be started, or three launches in a row do not start.
  bool run(const ComparisonStage& stage);
  /// Mean wall time of its launches; negative before the first.
  [[nodiscard]] double launch_s() const { return launched_ > 0 ? spent_s_ / static_cast<double>(launched_) : -1; }
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  struct Side {
    const Campaign* campaign = nullptr;
    RunSettings settings;
    std::map<std::string, std::size_t> index;  ///< index of launched points, by id
  };
  struct Launch {
    Side* side = nullptr;
    CampaignRunner* runner = nullptr;
    PlannedLaunch planned;
  };
  [[nodiscard]] static Side make_side(const std::string& name, const Campaign& campaign, const ComparedSide& side,
                                      const RunSettings& settings, const std::filesystem::path& wisdom);
  [[nodiscard]] std::vector<Launch> launches(const ComparisonStage& stage);

  const Comparison& comparison_;
  const Archive& archive_;
  Side base_, candidate_;
  CampaignRunner base_runner_, candidate_runner_;
  std::vector<std::string> points_;
  double spent_s_ = 0;
  std::size_t launched_ = 0;
};

}  // namespace fourscore
