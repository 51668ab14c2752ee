#pragma once
// How long launches take, from what the archive knows of their points.

#include <map>

#include "jobscripts/campaigns/campaign.hpp"

namespace fourscore {

/// Seconds of one launch of each point, from start to end, and never more than the suite's time_limit_s: what the
/// longest one took in this campaign, else in the others of the archive on the same machine, with a margin; else
/// time_limit_s.
class Estimates {
 public:
  Estimates(const Campaign& campaign, const Archive& archive);
  /// `point`: index into the campaign's points.
  [[nodiscard]] double launch_s(std::size_t point) const;
  [[nodiscard]] bool is_known(std::size_t point) const { return longest_s_.contains(point); }
  /// A launch of the point took longer than it was given: only the suite's time_limit_s is sure to suffice.
  void distrust(std::size_t point) { longest_s_.erase(point); }
  /// A launch of the point took so long.
  void learn(std::size_t point, double wall_s);

 private:
  double limit_s_;
  std::map<std::size_t, double> longest_s_;
};

}  // namespace fourscore
