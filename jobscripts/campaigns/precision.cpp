#include "jobscripts/campaigns/precision.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <unordered_map>

#include "core/statistics.hpp"
#include "results/index.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

constexpr std::size_t fewest = 6;
constexpr double confidence = 0.95;

/// What is archived of one point.
struct PointTimes {
  int records = 0;
  int last_launch = -1;
  std::map<std::string, std::vector<double>> launch_medians_s;  ///< by a component's benchmark; "" for a transform
  std::size_t ok = 0;
};

void add_times(PointTimes& times, const json& record) {
  const auto add = [&](const std::string& name, const json& holder) {
    const auto time_s = holder.value("time_s", std::vector<double>{});
    if (!time_s.empty()) times.launch_medians_s[name].push_back(median(time_s));
  };
  if (record.contains("samples")) add("", record["samples"]);
  for (const json& benchmark : record.value("benchmarks", json::array())) add(benchmark.value("name", "?"), benchmark);
}

std::unordered_map<std::string, PointTimes> times_of(const Archive& archive, const std::string& campaign) {
  std::unordered_map<std::string, PointTimes> points;
  for (const RecordEntry& entry : record_entries(archive, campaign)) {
    const json record = json::parse(entry.brief, nullptr, false);
    if (!record.is_object()) continue;
    PointTimes& point = points[record.value("point_id", "")];
    ++point.records;
    point.last_launch = std::max(point.last_launch, record.value("/campaign/launch"_json_pointer, -1));
    if (entry.status != "ok") continue;
    ++point.ok;
    add_times(point, record);
  }
  return points;
}

double precision_of(const PointTimes& point) {
  double worst = point.launch_medians_s.empty() ? std::numeric_limits<double>::infinity() : 0;
  for (const auto& [name, medians_s] : point.launch_medians_s) worst = std::max(worst, relative_precision(medians_s));
  return worst;
}

}  // namespace

std::pair<std::size_t, std::size_t> median_interval(std::size_t count) {
  if (count < fewest) return {0, 0};
  // The chance that fewer than low + 1 of the values are below the median, twice, for both ends.
  double below = std::exp2(-static_cast<double>(count));
  double term = below;
  std::size_t low = 0;
  while (low + 1 < count / 2) {
    term *= static_cast<double>(count - low) / static_cast<double>(low + 1);
    if (1 - 2 * (below + term) < confidence) break;
    below += term;
    ++low;
  }
  return {low, count - 1 - low};
}

double relative_precision(std::vector<double> values) {
  if (values.size() < fewest) return std::numeric_limits<double>::infinity();
  std::ranges::sort(values);
  const auto [low, high] = median_interval(values.size());
  return (values[high] - values[low]) / 2 / median(values);
}

std::vector<PlannedLaunch> further_launches(const Campaign& campaign, const Archive& archive) {
  std::vector<PlannedLaunch> planned;
  const Suite& suite = campaign.suite;
  if (suite.precision <= 0) return planned;
  const auto points = times_of(archive, campaign.id);
  for (std::size_t i = 0; i < campaign.points.size(); ++i) {
    const auto found = points.find(campaign.points[i].id);
    if (found == points.end() || !campaign.points[i].skip_reason.empty()) continue;
    const PointTimes& point = found->second;
    // A point that never has a result gets no more launches than the schedule gave it.
    if (point.records < suite.launches || point.ok == 0 || precision_of(point) <= suite.precision) continue;
    const int wanted = point.ok < fewest ? static_cast<int>(fewest - point.ok) : 1;
    const int room = suite.most_launches - point.records;
    for (int k = 0; k < std::min(wanted, room); ++k) {
      const int launch = std::max(suite.launches, point.last_launch + 1) + k;
      planned.push_back({i, launch, campaign.schedule.size() + planned.size(),
                         archive.record_file(campaign.id, campaign.points[i].id, launch)});
    }
  }
  return planned;
}

}  // namespace fourscore
