#pragma once
// Part of a campaign: the launches that are wanted this time. The others stay missing.

#include <map>
#include <string>
#include <vector>

#include "jobscripts/campaigns/runner.hpp"

namespace fourscore {

class Selection {
 public:
  Selection() = default;
  /// only: KEY=VALUE, keys as in suites ("variant", "parameters.pieces"), or "tag"; of values of one key any will do.
  /// launches: the first so many of each point, 0: all. Throws InputError naming what is no key or no value of it.
  Selection(const std::vector<std::string>& only, int launches);

  [[nodiscard]] bool takes_all() const { return wanted_.empty() && tags_.empty() && launches_ == 0; }
  [[nodiscard]] bool takes(const CampaignPoint& point, int launch) const;
  /// Keeps what it takes. A retry goes by the launch that it stands in for.
  void apply(const Campaign& campaign, std::vector<PlannedLaunch>& planned) const;
  /// Throws InputError where it takes no point of the campaign, naming the values that there are.
  void require_points(const Campaign& campaign) const;

 private:
  std::map<std::string, std::vector<std::string>> wanted_;  ///< canonical values by key
  std::vector<std::string> tags_;
  int launches_ = 0;
};

}  // namespace fourscore
