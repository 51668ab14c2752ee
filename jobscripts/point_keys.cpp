#include "jobscripts/point_keys.hpp"

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <map>

#include "core/record.hpp"

namespace fourscore {
namespace {

constexpr std::string_view parameter_prefix = "parameters.";

int positive_integer(const std::string& text, std::string_view what, int most = 1 << 24) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > most)
    throw InputError(fmt::format("{} '{}' is not an integer from 1 to {}", what, text, most));
  return value;
}

struct Access {
  std::function<void(Point&, const std::string&)> set;
  std::function<std::string(const Point&)> get;
};

const std::map<std::string, Access, std::less<>>& accesses() {
  using P = Point;
  using S = const std::string&;
  static const std::map<std::string, Access, std::less<>> table{
      {"program", {[](P& p, S v) { p.component = v; }, [](const P& p) { return p.component; }}},
      {"variant", {[](P& p, S v) { p.variant = v; }, [](const P& p) { return p.variant; }}},
      {"exchange",
       {[](P& p, S v) {
          if (v.empty()) throw InputError("exchange is ''; expected a name, or none");
          p.exchange = v;
        },
        [](const P& p) { return p.exchange; }}},
      {"local_fft", {[](P& p, S v) { p.local_fft = v; }, [](const P& p) { return p.local_fft; }}},
      {"shape",
       {[](P& p, S v) { p.problem.shape = parse_shape(v); }, [](const P& p) { return shape_text(p.problem.shape); }}},
      {"precision",
       {[](P& p, S v) { p.problem.precision = parse_precision(v); },
        [](const P& p) { return to_string(p.problem.precision); }}},
      {"kind",
       {[](P& p, S v) {
          const auto asked = parse_kind_and_direction(v, std::nullopt);
          p.problem.kind = asked.kind;
          if (asked.direction == Direction::backward) p.problem.direction = asked.direction;
        },
        [](const P& p) { return to_string(p.problem.kind); }}},
      {"direction",
       {[](P& p, S v) { p.problem.direction = parse_direction(v); },
        [](const P& p) { return to_string(p.problem.direction); }}},
      {"ranks",
       {[](P& p, S v) { p.ranks = positive_integer(v, "ranks"); }, [](const P& p) { return std::to_string(p.ranks); }}},
      {"grid",
       {[](P& p, S v) { p.problem.grid = parse_grid(v); }, [](const P& p) { return grid_text(p.problem.grid); }}},
      {"threads",
       {[](P& p, S v) { p.problem.threads = positive_integer(v, "threads", max_threads); },
        [](const P& p) { return std::to_string(p.problem.threads); }}},
      {"instances",
       {[](P& p, S v) { p.problem.instances = positive_integer(v, "instances"); },
        [](const P& p) { return std::to_string(p.problem.instances); }}},
      {"placement",
       {[](P& p, S v) { p.problem.placement = parse_placement(v); },
        [](const P& p) { return to_string(p.problem.placement); }}},
      {"layout",
       {[](P& p, S v) { p.problem.contract.layout = parse_layout(v); },
        [](const P& p) { return to_string(p.problem.contract.layout); }}},
      {"buffers",
       {[](P& p, S v) { p.problem.contract.buffers = parse_buffers(v); },
        [](const P& p) { return to_string(p.problem.contract.buffers); }}},
      {"planner",
       {[](P& p, S v) { p.problem.contract.effort = parse_effort(v); },
        [](const P& p) { return to_string(p.problem.contract.effort); }}},
  };
  return table;
}

}  // namespace

const std::vector<std::string>& point_keys() {
  static const std::vector<std::string> keys{"variant",   "exchange",  "local_fft", "shape",   "precision",
                                             "kind",      "direction", "ranks",     "grid",    "threads",
                                             "instances", "placement", "layout",    "buffers", "planner"};
  return keys;
}

const std::vector<std::string>& component_keys() {
  static const std::vector<std::string> keys{"program", "ranks"};
  return keys;
}

void set_point_value(Point& point, std::string_view key, const std::string& text) {
  if (key.starts_with(parameter_prefix)) {
    point.problem.parameters[std::string(key.substr(parameter_prefix.size()))] = text;
    return;
  }
  const auto access = accesses().find(key);
  if (access == accesses().end()) throw InputError(fmt::format("'{}' is not a key of a point", key));
  access->second.set(point, text);
}

std::string point_value(const Point& point, std::string_view key) {
  if (key.starts_with(parameter_prefix)) {
    const auto found = point.problem.parameters.find(std::string(key.substr(parameter_prefix.size())));
    return found == point.problem.parameters.end() ? std::string{} : found->second;
  }
  const auto access = accesses().find(key);
  if (access == accesses().end()) throw InputError(fmt::format("'{}' is not a key of a point", key));
  return access->second.get(point);
}

std::string point_text(const Point& point) {
  std::string text;
  for (const auto& key : point.component.empty() ? point_keys() : component_keys())
    text += point_value(point, key) + '\x1f';
  for (const auto& [name, value] : point.problem.parameters) text += name + '=' + value + '\x1f';
  return text;
}

std::string parameters_text(const Point& point) {
  std::string text;
  for (const auto& [name, value] : point.problem.parameters) text += fmt::format(" {}={}", name, value);
  return text;
}

std::vector<std::string> point_options(const Point& point) {
  std::vector<std::string> options;
  for (const auto& key : point_keys()) {
    if (key == "ranks" || !point.component.empty()) continue;
    if (key == "exchange" && point.exchange.empty()) continue;  // the variant's own
    options.push_back(key == "local_fft" ? "--local-fft" : "--" + key);
    options.push_back(point_value(point, key));
  }
  for (const auto& [name, value] : point.problem.parameters) {
    options.emplace_back("--parameter");
    options.push_back(name + "=" + value);
  }
  return options;
}

}  // namespace fourscore
