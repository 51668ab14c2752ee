#include "core/record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <random>
#include <set>
#include <vector>

#include "core/sha256.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

/// Reads one JSON object key by key; finish() refuses the keys that nobody asked for.
class ObjectReader {
 public:
  ObjectReader(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) fail("", "an object");
  }

  const json* find(const std::string& key) {
    known_.push_back(key);
    const auto it = object_.find(key);
    return it == object_.end() ? nullptr : &*it;
  }

  [[nodiscard]] bool has(const std::string& key) const { return object_.contains(key); }

  const json& at(const std::string& key) {
    const json* value = find(key);
    if (value == nullptr) throw InputError(fmt::format("{}: key '{}' is missing", where_, key));
    return *value;
  }

  std::string text(const std::string& key, std::string fallback) {
    const json* value = find(key);
    if (value == nullptr) return fallback;
    if (!value->is_string()) fail(key, "a string");
    return value->get<std::string>();
  }

  int positive(const std::string& key, int fallback, int largest = std::numeric_limits<int>::max()) {
    const json* value = find(key);
    return value == nullptr ? fallback : positive_integer(*value, key, largest);
  }

  template <class Integer = int>
  Integer positive_integer(const json& value, const std::string& key,
                           Integer largest = std::numeric_limits<Integer>::max()) const {
    if (!value.is_number_integer() || value < 1 || value > largest)
      fail(key, fmt::format("an integer from 1 to {}", largest));
    return value.template get<Integer>();
  }

  template <class Integer>
  std::vector<Integer> extents(const json& value, const std::string& key) const {
    if (!value.is_array() || value.empty() || value.size() > 3) fail(key, "an array of 1 to 3 positive integers");
    std::vector<Integer> result;
    for (const json& extent : value) result.push_back(positive_integer<Integer>(extent, key));
    return result;
  }

  [[noreturn]] void fail(const std::string& key, const std::string& expected) const {
    const json& value = key.empty() ? object_ : object_.at(key);
    throw InputError(
        fmt::format("{}{} is {}; expected {}", where_, key.empty() ? "" : ": " + key, value.dump(), expected));
  }

  void finish() const {
    for (const auto& [key, value] : object_.items()) {
      if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
      const auto nearest = nearest_name(key, known_);
      throw InputError(fmt::format("{}: unknown key '{}'{}; allowed: {}", where_, key,
                                   nearest ? fmt::format(", did you mean '{}'?", *nearest) : "",
                                   fmt::join(known_, ", ")));
    }
  }

 private:
  const json& object_;
  std::string where_;
  std::vector<std::string> known_;
};

Contract contract_from_json(const json& object) {
  ObjectReader reader(object, "point: contract");
  Contract contract;
  contract.layout = parse_layout(reader.text("layout", to_string(contract.layout)));
  contract.buffers = parse_buffers(reader.text("buffers", to_string(contract.buffers)));
  contract.effort = parse_effort(reader.text("planner", to_string(contract.effort)));
  if (reader.text("normalisation", "none") != "none") reader.fail("normalisation", "\"none\"");
  reader.finish();
  return contract;
}

std::map<std::string, std::string> parameters_from_json(const json& object) {
  std::map<std::string, std::string> parameters;
  if (!object.is_object())
    throw InputError("point: parameters is " + object.dump() + "; expected an object of strings");
  for (const auto& [key, value] : object.items()) {
    if (!value.is_string())
      throw InputError(fmt::format("point: parameters: {} is {}; expected a string", key, value.dump()));
    parameters[key] = value.get<std::string>();
  }
  return parameters;
}

}  // namespace

json point_json(const Point& point) {
  if (!point.component.empty())
    return {{"component", point.component}, {"ranks", point.ranks}, {"parameters", json(point.problem.parameters)}};
  const Problem& problem = point.problem;
  json grid = "auto";
  if (!problem.grid.empty()) grid = problem.grid;
  json result{{"variant", point.variant},
              {"local_fft", point.local_fft},
              {"shape", problem.shape},
              {"precision", to_string(problem.precision)},
              {"kind", to_string(problem.kind)},
              {"direction", to_string(problem.direction)},
              {"ranks", point.ranks},
              {"grid", grid},
              {"threads", problem.threads},
              {"instances", problem.instances},
              {"placement", to_string(problem.placement)},
              {"contract",
               {{"layout", to_string(problem.contract.layout)},
                {"buffers", to_string(problem.contract.buffers)},
                {"normalisation", "none"},
                {"planner", to_string(problem.contract.effort)}}},
              {"parameters", json(problem.parameters)}};
  if (!point.exchange.empty()) result["exchange"] = point.exchange;
  return result;
}

Point point_from_json(const json& object) {
  ObjectReader reader(object, "point");
  Point point;
  Problem& problem = point.problem;
  if (reader.has("component")) {
    point.component = reader.text("component", "");
    if (point.component.empty()) reader.fail("component", "the name of a program");
    point.ranks = reader.positive_integer(reader.at("ranks"), "ranks");
    if (const json* parameters = reader.find("parameters")) problem.parameters = parameters_from_json(*parameters);
    reader.finish();
    return point;
  }
  if (!reader.at("variant").is_string()) reader.fail("variant", "a string");
  point.variant = object["variant"].get<std::string>();
  point.exchange = reader.text("exchange", "");
  if (reader.has("exchange") && point.exchange.empty()) reader.fail("exchange", "the name of an exchange, or none");
  point.local_fft = reader.text("local_fft", point.local_fft);
  // parse_shape also knows the limits on products.
  problem.shape = parse_shape(shape_text(reader.extents<Index>(reader.at("shape"), "shape")));
  problem.precision = parse_precision(reader.text("precision", to_string(problem.precision)));
  const std::string asked_direction = reader.text("direction", "");
  const auto [kind, direction] = parse_kind_and_direction(
      reader.text("kind", to_string(problem.kind)),
      reader.has("direction") ? std::optional<std::string_view>(asked_direction) : std::nullopt);
  problem.kind = kind;
  problem.direction = direction;
  point.ranks = reader.positive_integer(reader.at("ranks"), "ranks");
  if (const json* grid = reader.find("grid"); grid != nullptr && *grid != "auto")
    problem.grid = reader.extents<int>(*grid, "grid");
  problem.threads = reader.positive("threads", problem.threads, max_threads);
  problem.instances = reader.positive("instances", problem.instances);
  problem.placement = parse_placement(reader.text("placement", to_string(problem.placement)));
  if (const json* contract = reader.find("contract")) problem.contract = contract_from_json(*contract);
  if (const json* parameters = reader.find("parameters")) problem.parameters = parameters_from_json(*parameters);
  reader.finish();
  return point;
}

std::string short_hash(const json& value) { return sha256_hex(value.dump()).substr(0, 16); }

std::string point_id(const Point& point) { return short_hash(point_json(point)); }

std::string new_record_id() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < 4; ++i) id += fmt::format("{:08x}", static_cast<std::uint32_t>(random()));
  return id;
}

json verdict_json(const Verdict& verdict) {
  static const std::set<std::string> known{"ok", "wrong", "skipped", "failed", "timeout"};
  if (!known.contains(verdict.status)) throw std::logic_error("no such verdict: " + verdict.status);
  return {{"status", verdict.status},
          {"reason", verdict.reason},
          {"exit_status", verdict.exit_status},
          {"signal", verdict.signal},
          {"stderr_tail", verdict.stderr_tail}};
}

json failed_part_json(const std::string& status, const std::string& reason) {
  if (status != "failed" && status != "timeout") throw std::logic_error("no such end of a part: " + status);
  return {{"status", status}, {"reason", reason}};
}

json ended_record(json verified, const Point& point, const Verdict& end) {
  if (!verified.is_object() || verified.value("point_id", "") != point_id(point) || !verified.contains("samples") ||
      verified.value("/verdict/status"_json_pointer, "") != "ok" || !verified.contains("failed_parts"))
    throw std::invalid_argument("not the verified part of a record of this point");
  verified.erase("sha256");  // of the form that was not finished
  for (json& part : verified["failed_parts"]) part = failed_part_json(end.status, end.reason);
  verified["verdict"] = verdict_json({"ok", "", end.exit_status, end.signal, end.stderr_tail});
  return verified;
}

json make_record(const Point& point, const json& campaign, const Verdict& verdict, const json& provenance) {
  json record{{"schema", record_schema},      {"schema_version", record_schema_version},
              {"record_id", new_record_id()}, {"point_id", point_id(point)},
              {"point", point_json(point)},   {"verdict", verdict_json(verdict)}};
  if (!campaign.is_null()) record["campaign"] = campaign;
  if (!provenance.is_null()) record["provenance"] = provenance;
  return record;
}

json make_unlaunched_record(const Point& point, const json& campaign, const Verdict& verdict, const json& provenance) {
  if (verdict.status == "ok" || verdict.status == "wrong")
    throw std::logic_error("a launch that did not come back cannot be '" + verdict.status + "'");
  return make_record(point, campaign, verdict, provenance);
}

}  // namespace fourscore
