#include "jobscripts/campaigns/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>

#include "core/flags.hpp"
#include "core/point_keys.hpp"
#include "core/statistics.hpp"
#include "core/text.hpp"
#include "jobscripts/base/progress.hpp"
#include "jobscripts/campaigns/component_summary.hpp"
#include "results/index.hpp"
#include "results/printable.hpp"

namespace fourscore {
using nlohmann::json;

namespace {

std::string group_title(const json& point) {
  if (is_component(point)) return component_title(point);
  const auto value = [&](std::string_view key) { return point_value(point, key); };
  return fmt::format("{} {} {} {}, {} rank{}{}: {}, {}, planner {}", value("shape"), value("precision"), value("kind"),
                     value("direction"), value("ranks"), value("ranks") == "1" ? "" : "s",
                     further_values(point, {"variant", "exchange", "local_fft", "grid", "shape", "precision", "kind",
                                            "direction", "ranks", "layout", "buffers", "planner"}),
                     value("layout"), value("buffers"), value("planner"));
}

/// Problem size, then ranks, then words: small before large, as one reads a scaling table; components after all.
auto group_order(const json& point) {
  double elements = is_component(point) ? std::numeric_limits<double>::infinity() : 1;
  for (const auto& extent : point.value("shape", json::array())) elements *= extent.get<double>();
  return std::tuple(elements, point.value("ranks", 0), group_title(point));
}

void add_record(CampaignSummary& summary, std::map<std::string, PointSummary>& points, const json& record) {
  const json verdict = record.value("verdict", json::object());
  const std::string status = verdict.value("status", "?");
  ++summary.counts[status];
  const std::string id = record.value("point_id", "?");
  PointSummary& point = points[id];
  point.point_id = id;
  point.point = record.value("point", json::object());
  ++point.statuses[status];
  if (status != "ok" && point.reason.empty()) point.reason = verdict.value("reason", "");
  const json lost = record.value("failed_parts", json::object());
  for (const auto& [part, end] : lost.items()) ++summary.failed_parts[part];
  for (const auto& flag : record.value("flags", json::array()))
    if (std::find(point.flags.begin(), point.flags.end(), flag) == point.flags.end()) point.flags.push_back(flag);
  const json samples = record.value("samples", json::object());
  std::vector<double> times = samples.value("time_s", std::vector<double>{});
  const json harness = record.value("harness", json::object());
  for (const auto& [part, seconds] : harness.items())
    if (part != "measure_s" && seconds.is_number())
      summary.harness_s[part.substr(0, part.rfind("_s"))] += seconds.get<double>();
  for (const double time : samples.value("warmup_s", std::vector<double>{})) summary.measure_s += time;
  for (const double time : times) summary.measure_s += time;
  summary.measure_s += add_benchmarks(point, record);
  if (times.empty()) return;
  point.launch_medians_s.push_back(median(times));
  if (const double flops = record.value("credited_flops", 0.0); flops > 0)
    point.gflops = flops / median(point.launch_medians_s) / 1e9;
}

std::string status_text(const PointSummary& point) {
  std::vector<std::string> parts;
  for (const auto& [status, count] : point.statuses) parts.push_back(fmt::format("{} {}", printable(status), count));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string flags_text(const PointSummary& point) {
  std::vector<std::string> parts;
  for (const auto& flag : point.flags) {
    const Flag* known = find_flag(flag);
    parts.push_back(known == nullptr ? printable(flag) : std::string(known->short_name));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string method(const PointSummary& point) {
  std::string name = point_value(point.point, "variant");
  if (const std::string grid = point_value(point.point, "grid"); grid != "auto")
    name += grid == tuned_word ? " grid tuned" : " " + grid;
  if (const std::string library = point_value(point.point, "local_fft");
      library != "fftw" && !point_value(point.point, "variant").starts_with(library))
    name += " " + library;
  const json parameters = point.point.value("parameters", json::object());
  for (const auto& [key, value] : parameters.items())
    name += fmt::format(" {}={}", key, value.is_string() ? value.get<std::string>() : value.dump());
  return printable(name);
}

std::string row(const PointSummary& point) {
  std::string line = fmt::format("  {} {:<18} {:<10}", point.best ? "*" : " ", method(point),
                                 printable(point.point.value("exchange", "?")));
  if (point.launch_medians_s.empty())
    return line + fmt::format(" {:>10} {:>23} {:>8}  {:<8} {}\n", "-", "", "", status_text(point),
                              shortened(point.reason, 100));
  const auto [low, high] = std::minmax_element(point.launch_medians_s.begin(), point.launch_medians_s.end());
  return line + fmt::format(" {:>10} {:>23} {:>8.3g}  {:<8} {}\n", shown_time(median(point.launch_medians_s)),
                            fmt::format("{} .. {}", shown_time(*low), shown_time(*high)), point.gflops,
                            status_text(point), flags_text(point));
}

/// Adds records, those without a result last: only then is it known whether a retry stands in for them.
class Summariser {
 public:
  void add(const RecordEntry& entry) {
    if (!entry.reason.empty()) {
      unreadable_.push_back(entry);
      return;
    }
    json record = json::parse(entry.brief);
    const json retry_of = record.value("/campaign/retry_of"_json_pointer, json());
    if (retry_of.is_number_integer()) superseded_.emplace(record.value("point_id", "?"), retry_of.get<int>());
    if (entry.status == "failed" || entry.status == "timeout")
      without_result_.push_back(std::move(record));
    else
      add_record(summary_, points_, record);
  }

  /// The summary without its groups, and the points by their ids.
  std::pair<CampaignSummary, std::map<std::string, PointSummary>> finish() {
    for (auto& record : without_result_) {
      const json launch = record.value("/campaign/launch"_json_pointer, json());
      if (launch.is_number_integer() && superseded_.contains({record.value("point_id", "?"), launch.get<int>()}))
        record["verdict"] = {{"status", "superseded"}};
      add_record(summary_, points_, record);
    }
    for (const RecordEntry& entry : unreadable_) {
      if (const auto launch = launch_of_file(entry.file); launch && superseded_.contains(*launch))
        ++summary_.counts["superseded"];
      else
        summary_.unreadable.emplace_back(entry.file, entry.reason);
    }
    return {std::move(summary_), std::move(points_)};
  }

 private:
  CampaignSummary summary_;
  std::map<std::string, PointSummary> points_;
  std::vector<json> without_result_;
  std::vector<RecordEntry> unreadable_;
  std::set<std::pair<std::string, int>> superseded_;  ///< point and launch
};

}  // namespace

bool CampaignSummary::has_bad() const {
  return counts.contains("wrong") || counts.contains("failed") || counts.contains("timeout") || !failed_parts.empty();
}

CampaignSummary summarise(const Archive& archive, const std::string& campaign) {
  Summariser summariser;
  for (const auto& entry : record_entries(archive, campaign)) summariser.add(entry);
  auto [summary, points] = summariser.finish();
  std::map<decltype(group_order(json())), SummaryGroup> groups;
  for (auto& [id, point] : points) {
    SummaryGroup& group = groups[group_order(point.point)];
    group.title = group_title(point.point);
    group.points.push_back(std::move(point));
  }
  for (auto& [order, group] : groups) {
    const auto is_flagged = [](const PointSummary& p, std::string_view flag) {
      return std::ranges::find(p.flags, flag) != p.flags.end();
    };
    const auto key = [&](const PointSummary& p) {
      return std::tuple(p.launch_medians_s.empty(), is_flagged(p, "foreign"),
                        p.launch_medians_s.empty() ? 0.0 : median(p.launch_medians_s), p.point_id);
    };
    std::sort(group.points.begin(), group.points.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
    PointSummary& first = group.points.front();
    // Times of a simulation rank nothing, nor does a mere word.
    first.best = !first.launch_medians_s.empty() && group.points.size() > 1 && !is_flagged(first, "simulated") &&
                 !is_flagged(first, "foreign");
    summary.groups.push_back(std::move(group));
  }
  return summary;
}

std::string summary_table(const CampaignSummary& summary) {
  std::string text;
  for (const auto& group : summary.groups) {
    if (is_component(group.points.front().point)) {
      text += printable(group.title) + "\n";
      for (const auto& point : group.points) text += component_rows(point, status_text(point), flags_text(point));
      continue;
    }
    text += fmt::format("{}\n    {:<18} {:<10} {:>10} {:>23} {:>8}  {:<8} {}\n", printable(group.title), "variant",
                        "exchange", "median", "launches, min .. max", "GFLOP/s", "launches", "flags");
    for (const auto& point : group.points) text += row(point);
  }
  std::vector<std::string> counts;
  for (const auto& [status, count] : summary.counts) counts.push_back(fmt::format("{} {}", count, printable(status)));
  text += fmt::format("Records: {}\n", counts.empty() ? "none" : fmt::format("{}", fmt::join(counts, ", ")));
  for (const auto& [part, count] : summary.failed_parts)
    text += fmt::format("Failed after the samples were verified: {} of {}\n", part, plural(count, "launch"));
  double harness = 0;
  std::vector<std::string> parts;
  for (const auto& [part, seconds] : summary.harness_s) {
    harness += seconds;
    parts.push_back(fmt::format("{} {}", printable(part), shown_time(seconds)));
  }
  if (!parts.empty())
    text += fmt::format("Measured {}; around it {}: {}\n", shown_time(summary.measure_s), shown_time(harness),
                        fmt::join(parts, ", "));
  for (const auto& [file, reason] : summary.unreadable)
    text += fmt::format("Unreadable: {}: {}\n", printable(file), printable(reason));
  return text;
}

json summary_json(const CampaignSummary& summary) {
  json points = json::array();
  for (const auto& group : summary.groups)
    for (const auto& point : group.points) {
      points.push_back({{"point_id", point.point_id},
                        {"point", point.point},
                        {"group", group.title},
                        {"statuses", point.statuses},
                        {"flags", point.flags},
                        {"best", point.best}});
      if (!point.reason.empty()) points.back()["reason"] = point.reason;
      if (is_component(point.point)) points.back()["benchmarks"] = benchmarks_json(point);
      if (point.launch_medians_s.empty()) continue;
      const auto [low, high] = std::minmax_element(point.launch_medians_s.begin(), point.launch_medians_s.end());
      points.back().update({{"median_s", median(point.launch_medians_s)},
                            {"min_s", *low},
                            {"max_s", *high},
                            {"launch_medians_s", point.launch_medians_s},
                            {"gflops", point.gflops}});
    }
  json unreadable = json::array();
  for (const auto& [file, reason] : summary.unreadable) unreadable.push_back({{"file", file}, {"reason", reason}});
  return {{"counts", summary.counts},
          {"failed_parts", summary.failed_parts},
          {"harness_s", summary.harness_s},
          {"measure_s", summary.measure_s},
          {"points", points},
          {"unreadable", unreadable}};
}

}  // namespace fourscore
