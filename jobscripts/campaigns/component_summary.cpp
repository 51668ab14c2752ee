#include "jobscripts/campaigns/component_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/statistics.hpp"
#include "core/text.hpp"
#include "jobscripts/base/progress.hpp"
#include "results/printable.hpp"

namespace fourscore {
using nlohmann::json;

namespace {

BenchmarkSummary& benchmark_of(PointSummary& point, const json& entry) {
  const std::string name = entry.value("name", "?");
  const auto found = std::find_if(point.benchmarks.begin(), point.benchmarks.end(),
                                  [&](const BenchmarkSummary& known) { return known.name == name; });
  if (found != point.benchmarks.end()) return *found;
  const json numbers = entry.value("numbers", json::object());
  return point.benchmarks.emplace_back(BenchmarkSummary{name,
                                                        numbers.value("bytes", 0.0),
                                                        numbers.value("flops", 0.0),
                                                        entry.value("in_cache", false),
                                                        entry.value("emulated", false),
                                                        {}});
}

std::string rate_text(const BenchmarkSummary& benchmark, double seconds) {
  if (benchmark.flops > 0) return fmt::format("{:.3g} GFLOP/s", benchmark.flops / seconds / 1e9);
  if (benchmark.bytes > 0) return fmt::format("{:.3g} GB/s", benchmark.bytes / seconds / 1e9);
  return {};
}

std::string notes_text(const BenchmarkSummary& benchmark) {
  std::string notes = benchmark.emulated ? "emulated" : "";
  if (benchmark.in_cache) notes += notes.empty() ? "cache" : " cache";
  return notes;
}

}  // namespace

bool is_component(const json& point) { return point.contains("component"); }

std::string component_title(const json& point) {
  const int ranks = point.value("ranks", 0);
  return fmt::format("{}, {}", point.value("component", "?"), plural(ranks, "rank"));
}

double add_benchmarks(PointSummary& point, const json& record) {
  double measured_s = 0;
  for (const auto& entry : record.value("benchmarks", json::array())) {
    const auto times = entry.value("time_s", std::vector<double>{});
    if (times.empty()) continue;
    benchmark_of(point, entry).launch_medians_s.push_back(median(times));
    for (const double time : times) measured_s += time * entry.value("iterations", 1.0);
  }
  return measured_s;
}

std::string component_rows(const PointSummary& point, const std::string& status, const std::string& flags) {
  std::vector<std::string> parameters;
  const json given = point.point.value("parameters", json::object());
  for (const auto& [key, value] : given.items())
    parameters.push_back(fmt::format("{}={}", key, value.is_string() ? value.get<std::string>() : value.dump()));
  std::string text = fmt::format(
      "  {}: {}{}{}\n", parameters.empty() ? "as it is" : printable(fmt::to_string(fmt::join(parameters, " "))), status,
      flags.empty() ? "" : "  ", flags);
  if (!point.reason.empty()) text += fmt::format("    {}\n", shortened(point.reason, 200));
  for (const auto& benchmark : point.benchmarks) {
    const auto [low, high] = std::minmax_element(benchmark.launch_medians_s.begin(), benchmark.launch_medians_s.end());
    const double middle = median(benchmark.launch_medians_s);
    text += fmt::format("    {:<40} {:>10} {:>23} {:>14}  {}\n", printable(benchmark.name), shown_time(middle),
                        fmt::format("{} .. {}", shown_time(*low), shown_time(*high)), rate_text(benchmark, middle),
                        notes_text(benchmark));
  }
  return text;
}

json benchmarks_json(const PointSummary& point) {
  json benchmarks = json::array();
  for (const auto& benchmark : point.benchmarks) {
    const auto [low, high] = std::minmax_element(benchmark.launch_medians_s.begin(), benchmark.launch_medians_s.end());
    const double middle = median(benchmark.launch_medians_s);
    benchmarks.push_back({{"name", benchmark.name},
                          {"median_s", middle},
                          {"min_s", *low},
                          {"max_s", *high},
                          {"launch_medians_s", benchmark.launch_medians_s},
                          {"in_cache", benchmark.in_cache},
                          {"emulated", benchmark.emulated}});
    if (benchmark.bytes > 0) benchmarks.back()["bytes_per_s"] = benchmark.bytes / middle;
    if (benchmark.flops > 0) benchmarks.back()["gflops"] = benchmark.flops / middle / 1e9;
  }
  return benchmarks;
}

}  // namespace fourscore
