#pragma once
// What a campaign found, point by point, for the terminal and for machines.

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "results/archive.hpp"

namespace fourscore {

/// One benchmark of a component's point, over its launches.
struct BenchmarkSummary {
  std::string name;
  double bytes = 0;  ///< an iteration; 0: it moves none worth a rate
  double flops = 0;
  bool in_cache = false;
  bool emulated = false;
  std::vector<double> launch_medians_s;
};

/// All records of one point.
struct PointSummary {
  nlohmann::json point;
  std::string point_id;
  std::map<std::string, int> statuses;  ///< status -> records; "superseded": a retry stands in for it
  std::vector<double> launch_medians_s;
  std::vector<BenchmarkSummary> benchmarks;  ///< for components alone, which have no samples of their own
  double gflops = 0;  ///< credited flops over the median of the launch medians; 0 without samples
  std::vector<std::string> flags;
  std::string reason;  ///< the reason of one record that is not ok
  bool best = false;   ///< the least median of its group
};

/// Points that may be ranked: same problem, contract, ranks and threads. Or a component's, which are not.
struct SummaryGroup {
  std::string title;
  std::vector<PointSummary> points;  ///< fastest first, those without a time last
};

struct CampaignSummary {
  std::vector<SummaryGroup> groups;
  std::map<std::string, int> counts;        ///< status -> records
  std::map<std::string, int> failed_parts;  ///< timeline, isolate, counters -> records that have samples and not this
  std::map<std::string, double> harness_s;  ///< launch, init, plan, verify, isolate, write: summed over records
  double measure_s = 0;                     ///< time in samples and warm-up
  std::vector<std::pair<std::string, std::string>> unreadable;  ///< file, reason

  [[nodiscard]] bool has_bad() const;  ///< any record wrong, failed, timeout or without a part
};

[[nodiscard]] CampaignSummary summarise(const Archive& archive, const std::string& campaign);
[[nodiscard]] std::string summary_table(const CampaignSummary& summary);
[[nodiscard]] nlohmann::json summary_json(const CampaignSummary& summary);

}  // namespace fourscore
