#include "results/chrome_trace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "core/point_keys.hpp"
#include "core/text.hpp"

namespace fourscore {
using nlohmann::json;

namespace {

/// "pencil/alltoallv 64x64x64, 4 ranks, launch 0"
std::string record_title(const json& record) {
  const json& point = record.at("point");
  if (point.contains("component"))
    return fmt::format("{}, {} ranks", point.at("component").get<std::string>(), point.at("ranks").get<int>());
  std::string title = point.at("variant").get<std::string>();
  if (const std::string exchange = point.value("exchange", "none"); exchange != "none") title += "/" + exchange;
  const json parameters = point.value("parameters", json::object());
  for (const auto& [key, value] : parameters.items())
    title += fmt::format(" {}={}", key, value.is_string() ? value.get<std::string>() : value.dump());
  const int ranks = point.at("ranks");
  title += fmt::format(" {}, {}", point_value(point, "shape"), plural(ranks, "rank"));
  const json launch = record.value("/campaign/launch"_json_pointer, json());
  return launch.is_number_integer() ? fmt::format("{}, launch {}", title, launch.get<int>()) : title;
}

json metadata(const char* name, std::int64_t pid, int tid, const json& arguments) {
  return {{"name", name}, {"ph", "M"}, {"pid", pid}, {"tid", tid}, {"args", arguments}};
}

void add_lane(const json& lane, std::int64_t first_pid, json& events) {
  const std::int64_t pid = first_pid + lane.at("rank").get<int>();
  const int tid = lane.at("lane");
  std::string name = tid == 0 ? std::string("main thread") : fmt::format("thread {}", tid);
  if (const auto dropped = lane.value("dropped", 0LL); dropped > 0)
    name += fmt::format(" (ends early: {} events had no room)", dropped);
  events.push_back(metadata("thread_name", pid, tid, {{"name", name}}));
  events.push_back(metadata("thread_sort_index", pid, tid, {{"sort_index", tid}}));
  const json& phases = lane.at("phase");
  const json& begin_s = lane.at("begin_s");
  const json& end_s = lane.at("end_s");
  const json pieces = lane.value("piece", json::array());
  // A lane whose columns differ in length is off (`fourscore verify` says so); what all of them have is shown.
  const std::size_t stretches = std::min({phases.size(), begin_s.size(), end_s.size()});
  for (std::size_t i = 0; i < stretches; ++i) {
    const double begin = begin_s.at(i).get<double>();
    json event{{"name", phases[i]},
               {"cat", "phase"},
               {"ph", "X"},
               {"ts", begin * 1e6},
               {"dur", (end_s.at(i).get<double>() - begin) * 1e6},
               {"pid", pid},
               {"tid", tid}};
    if (i < pieces.size() && pieces[i].get<int>() >= 0) event["args"] = {{"piece", pieces[i]}};
    events.push_back(std::move(event));
  }
}

}  // namespace

json chrome_trace(const std::vector<json>& records) {
  json events = json::array();
  std::int64_t first_pid = 0;
  for (const json& record : records) {
    if (!record.contains("timeline")) continue;
    const json& lanes = record.at("timeline").at("lanes");
    const std::string title = record_title(record);
    std::set<int> ranks;
    for (const json& lane : lanes) ranks.insert(lane.at("rank").get<int>());
    for (const int rank : ranks) {
      const std::int64_t pid = first_pid + rank;
      events.push_back(metadata("process_name", pid, 0, {{"name", fmt::format("rank {} · {}", rank, title)}}));
      events.push_back(metadata("process_sort_index", pid, 0, {{"sort_index", pid}}));
    }
    for (const json& lane : lanes) add_lane(lane, first_pid, events);
    first_pid += record.at("point").at("ranks").get<int>();
  }
  return {{"traceEvents", events}, {"displayTimeUnit", "ms"}};
}

}  // namespace fourscore
