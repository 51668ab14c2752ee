#include "results/chrome_trace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

namespace fourscore {
using nlohmann::json;

namespace {

/// "pencil/alltoallv 64x64x64, 4 ranks, launch 0"
std::string record_title(const json& record) {
  const json& point = record.at("point");
  std::string title = point.at("variant").get<std::string>();
  if (const std::string exchange = point.value("exchange", "none"); exchange != "none") title += "/" + exchange;
  for (const auto& [key, value] : point.value("parameters", json::object()).items())
    title += fmt::format(" {}={}", key, value.is_string() ? value.get<std::string>() : value.dump());
  const int ranks = point.at("ranks");
  title += fmt::format(" {}, {} rank{}", fmt::join(point.at("shape").get<std::vector<long long>>(), "x"), ranks,
                       ranks == 1 ? "" : "s");
  const json launch = record.value("/campaign/launch"_json_pointer, json());
  return launch.is_number_integer() ? fmt::format("{}, launch {}", title, launch.get<int>()) : title;
}

json metadata(const char* name, int pid, int tid, const json& arguments) {
  return {{"name", name}, {"ph", "M"}, {"pid", pid}, {"tid", tid}, {"args", arguments}};
}

void add_lane(const json& lane, int first_pid, json& events) {
  const int pid = first_pid + lane.at("rank").get<int>();
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
  for (std::size_t i = 0; i < phases.size(); ++i) {
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
  int first_pid = 0;
  for (const json& record : records) {
    if (!record.contains("timeline")) continue;
    const json& timeline = record.at("timeline");
    const std::string title = record_title(record);
    const int ranks = record.at("point").at("ranks");
    for (int rank = 0; rank < ranks; ++rank) {
      const int pid = first_pid + rank;
      events.push_back(metadata("process_name", pid, 0, {{"name", fmt::format("rank {} · {}", rank, title)}}));
      events.push_back(metadata("process_sort_index", pid, 0, {{"sort_index", pid}}));
    }
    for (const json& lane : timeline.at("lanes")) add_lane(lane, first_pid, events);
    first_pid += ranks;
  }
  return {{"traceEvents", events}, {"displayTimeUnit", "ms"}};
}

}  // namespace fourscore
