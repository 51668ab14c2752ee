#include "jobscripts/campaigns/selection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/point_keys.hpp"

namespace fourscore {

Selection::Selection(const std::vector<std::string>& only, int launches) : launches_(launches) {
  for (const std::string& text : only) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw InputError(fmt::format("--only '{}': expected KEY=VALUE, as in variant=pencil,ranks=4", text));
    const std::string key = text.substr(0, equals);
    const std::string value = text.substr(equals + 1);
    if (key == "tag") {
      tags_.push_back(value);
      continue;
    }
    Point scratch;
    try {
      set_point_value(scratch, key, value);
    } catch (const InputError& error) {
      throw InputError(fmt::format("--only '{}': {}", text, error.what()));
    }
    wanted_[key].push_back(point_value(scratch, key));
    if (key == "kind" && value == "c2r") wanted_["direction"].push_back(point_value(scratch, "direction"));
  }
}

bool Selection::takes(const CampaignPoint& point, int launch) const {
  if (launches_ > 0 && launch >= launches_) return false;
  if (!tags_.empty() && std::ranges::none_of(tags_, [&](const auto& tag) { return point.tags.contains(tag); }))
    return false;
  return std::ranges::all_of(wanted_, [&](const auto& entry) {
    return std::ranges::find(entry.second, point_value(point.point, entry.first)) != entry.second.end();
  });
}

void Selection::apply(const Campaign& campaign, std::vector<PlannedLaunch>& planned) const {
  std::erase_if(planned, [&](const PlannedLaunch& launch) {
    return !takes(campaign.points[launch.point], launch.retry_of.value_or(launch.launch));
  });
}

void Selection::require_points(const Campaign& campaign) const {
  if (std::ranges::any_of(campaign.points, [&](const CampaignPoint& point) { return takes(point, 0); })) return;
  std::string there;
  for (const auto& [key, values] : wanted_) {
    std::set<std::string> found;
    for (const CampaignPoint& point : campaign.points) found.insert(point_value(point.point, key));
    there += fmt::format("{}{} {}", there.empty() ? "" : "; ", key, fmt::join(found, ", "));
  }
  if (!tags_.empty()) {
    std::set<std::string> found;
    for (const CampaignPoint& point : campaign.points) found.insert(point.tags.begin(), point.tags.end());
    there += fmt::format("{}{}", there.empty() ? "" : "; ",
                         found.empty() ? "no tags" : fmt::format("tag {}", fmt::join(found, ", ")));
  }
  throw InputError(fmt::format("--only takes no point of {}, whose points have: {}", campaign.suite.name, there));
}

}  // namespace fourscore
