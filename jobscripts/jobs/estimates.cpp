#include "jobscripts/jobs/estimates.hpp"

#include <algorithm>
#include <unordered_map>

#include "results/campaign_file.hpp"
#include "results/index.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

constexpr double margin = 1.25;  ///< one launch in many meets a slower file system, or plans for longer
constexpr double least_s = 2.0;  ///< most of it is starting MPI

/// All steps of a launch together; 0 where its record has none.
double wall_s_of(const json& record) {
  double sum = 0;
  const json harness = record.value("harness", json::object());  // items() must not outlive what it looks at
  for (const auto& [step, seconds] : harness.items())
    if (seconds.is_number()) sum += seconds.get<double>();
  return sum;
}

}  // namespace

Estimates::Estimates(const Campaign& campaign, const Archive& archive) : limit_s_(campaign.suite.time_limit_s) {
  std::unordered_map<std::string, std::size_t> points;
  for (std::size_t i = 0; i < campaign.points.size(); ++i) points.emplace(campaign.points[i].id, i);
  const auto read = [&](const std::string& name) {
    for (const RecordEntry& entry : record_entries(archive, name)) {
      if (entry.status != "ok" && entry.status != "wrong") continue;
      const json record = json::parse(entry.brief, nullptr, false);
      if (!record.is_object()) continue;
      const auto point = points.find(record.value("point_id", ""));
      if (point != points.end()) learn(point->second, wall_s_of(record));
    }
  };
  read(campaign.id);
  if (longest_s_.size() == points.size()) return;
  for (const std::string& name : archive.campaigns())
    if (name != campaign.id && machine_of_campaign(archive, name) == campaign.machine_hash) read(name);
}

double Estimates::launch_s(std::size_t point) const {
  const auto known = longest_s_.find(point);
  if (known == longest_s_.end()) return limit_s_;
  return std::min(limit_s_, least_s + margin * known->second);
}

void Estimates::learn(std::size_t point, double wall_s) {
  if (wall_s <= 0) return;
  double& longest = longest_s_[point];
  longest = std::max(longest, wall_s);
}

}  // namespace fourscore
