#include "results/extra_p.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string_view>
#include <vector>

#include "core/point_keys.hpp"
#include "results/statistics.hpp"

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
    if (key.of_launch && value == key.get({})) continue;
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
  const json params{{"ranks", point.value("ranks", 1)}, {"elements", elements_of(point)}};
  const auto write = [&](const std::string& path, double value) {
    const json line{{"params", params}, {"callpath", path}, {"metric", "time_s"}, {"value", value}};
    out_ << line.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
  };
  write(name, median(times.get<std::vector<double>>()));
  const json phases = record.value("/samples/rank_phase_s"_json_pointer, json::object());
  for (const auto& [phase, of_ranks] : phases.items())
    for (const double value : median_of_slowest(of_ranks)) write(name + "->" + phase, value);
  return true;
}

}  // namespace fourscore
