#include "results/extra_p.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <string_view>
#include <vector>

#include "core/point_keys.hpp"
#include "core/statistics.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 3> of_parameters{"shape", "ranks", "nodes"};

/// The point without what models are functions of; with several nodes, how many ranks each has.
std::string call_path(const json& point) {
  std::string name;
  for (const PointKey& key : point_keys()) {
    if (key.derived || std::ranges::find(of_parameters, key.name) != of_parameters.end()) continue;
    const std::string value = point_value(point, key.name);
    if ((key.of_launch && value == key.get({})) || (key.labelled && value.empty())) continue;
    if (!name.empty()) name += '/';
    name += key.labelled ? fmt::format("{}:{}", key.name, value) : value;
  }
  if (point.value("nodes", 1) > 1) name += fmt::format("/ranks_per_node:{}", point_value(point, "ranks_per_node"));
  const json parameters = point.value("parameters", json::object());
  for (const auto& [key, value] : parameters.items())
    name += fmt::format("/{}:{}", key, value.is_string() ? value.get<std::string>() : value.dump());
  return name;
}

double elements_of(const json& point) {
  double elements = 1;
  for (const auto& extent : point.value("shape", json::array())) elements *= extent.get<double>();
  return elements;
}

/// The median over repetitions of the largest of all ranks; nothing where there are none.
std::vector<double> median_of_slowest(const json& of_ranks) {
  std::vector<double> slowest;
  for (const auto& times : of_ranks)
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (i == slowest.size()) slowest.push_back(0);
      slowest[i] = std::max(slowest[i], times[i].get<double>());
    }
  if (slowest.empty()) return {};
  return {median(slowest)};
}

}  // namespace

bool ExtraPExport::add(const json& record) {
  const json& point = record.at("point");
  const json times = record.value("/samples/time_s"_json_pointer, json::array());
  if (point.contains("component") || times.empty()) return false;
  const std::string name = call_path(point);
  const Point at{point.value("ranks", 1), elements_of(point)};
  add_time(name, at, median(times.get<std::vector<double>>()));
  const json phases = record.value("/samples/rank_phase_s"_json_pointer, json::object());
  for (const auto& [phase, of_ranks] : phases.items())
    for (const double value : median_of_slowest(of_ranks)) add_time(name + "->" + phase, at, value);
  return true;
}

void ExtraPExport::add_time(const std::string& path, const Point& point, double seconds) {
  std::set<Point>& points = points_of_[path];
  if (!(seconds > 0) || !std::isfinite(seconds)) {
    ++unusable_;
    return;
  }
  points.insert(point);
  times_.push_back({path, point, seconds});
}

std::set<ExtraPExport::Point> ExtraPExport::common_points() const {
  std::map<std::set<Point>, std::size_t> series;
  for (const auto& [path, points] : points_of_) ++series[points];
  const auto most = std::ranges::max_element(
      series, {}, [](const auto& entry) { return std::pair(entry.first.size(), entry.second); });
  return most == series.end() ? std::set<Point>() : most->first;
}

std::size_t ExtraPExport::write(std::ostream& out) const {
  const std::set<Point> common = common_points();
  if (common.empty()) return 0;
  for (const Time& time : times_) {
    if (points_of_.at(time.path) != common) continue;
    const json params{{"ranks", static_cast<long>(time.point.first)}, {"elements", time.point.second}};
    const json line{{"params", params}, {"callpath", time.path}, {"metric", "time_s"}, {"value", time.seconds}};
    out << line.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
  }
  return static_cast<std::size_t>(
      std::ranges::count_if(points_of_, [&](const auto& entry) { return entry.second == common; }));
}

std::vector<std::string> ExtraPExport::left_out() const {
  std::vector<std::string> sentences;
  if (unusable_ > 0)
    sentences.push_back(
        fmt::format("{} times are left out, which are 0 or less: Extra-P takes their logarithm", unusable_));
  const std::set<Point> common = common_points();
  std::vector<const std::string*> paths;
  for (const auto& [path, points] : points_of_)
    if (points != common) paths.push_back(&path);
  if (paths.empty()) return sentences;
  const std::set<Point>& first = points_of_.at(*paths.front());
  std::string difference = "has other points";
  for (const auto& [ranks, elements] : common)
    if (!first.contains({ranks, elements})) {
      difference = fmt::format("lacks ranks {}, elements {}", ranks, elements);
      break;
    }
  sentences.push_back(
      fmt::format("{} of {} series are left out: Extra-P wants the same points in all, {} here; the first, {}, {}",
                  paths.size(), points_of_.size(), common.size(), *paths.front(), difference));
  return sentences;
}

}  // namespace fourscore
