#include "jobscripts/campaigns/retry.hpp"

#include <algorithm>
#include <map>

#include "core/regular_file.hpp"
#include "results/archive.hpp"

namespace fourscore {
using nlohmann::json;

namespace {

/// What is archived of one point.
struct Attempts {
  std::map<int, std::string> status;  ///< by launch
  std::set<int> superseded;
};

std::map<std::string, Attempts> attempts_of(const Campaign& campaign, const Archive& archive) {
  std::map<std::string, Attempts> attempts;
  for (const auto& file : archive.record_files(campaign.id)) {
    InterruptGuard::check();
    try {
      const json record = read_record(file);
      Attempts& point = attempts[record.at("point_id").get<std::string>()];
      const json& stamp = record.at("campaign");
      point.status[stamp.at("launch").get<int>()] = record.at("verdict").at("status").get<std::string>();
      if (stamp.contains("retry_of")) point.superseded.insert(stamp["retry_of"].get<int>());
    } catch (const UnreadableRecord&) {
      if (const auto launch = launch_of_file(file)) attempts[launch->first].status[launch->second] = "unreadable";
    } catch (const json::exception&) {
      continue;
    }
  }
  return attempts;
}

}  // namespace

const std::vector<std::string>& retried_statuses() {
  static const std::vector<std::string> statuses{"failed", "timeout", "unreadable"};
  return statuses;
}

std::vector<PlannedLaunch> planned_retries(const Campaign& campaign, const Archive& archive,
                                           const std::set<std::string>& statuses) {
  const auto attempts = attempts_of(campaign, archive);
  std::vector<PlannedLaunch> planned;
  for (std::size_t i = 0; i < campaign.points.size(); ++i) {
    const auto found = attempts.find(campaign.points[i].id);
    if (found == attempts.end()) continue;
    const Attempts& point = found->second;
    int next = std::max(campaign.suite.launches, point.status.rbegin()->first + 1);
    for (const auto& [launch, status] : point.status) {
      if (!statuses.contains(status) || point.superseded.contains(launch)) continue;
      PlannedLaunch retry{i, next, campaign.schedule.size() + planned.size(), {}, false, launch};
      retry.record = archive.record_file(campaign.id, campaign.points[i].id, next++);
      // A launch whose record cannot be read has a file that no retry may want.
      if (!is_there(retry.record)) planned.push_back(std::move(retry));
    }
  }
  return planned;
}

}  // namespace fourscore
