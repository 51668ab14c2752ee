#include "results/index_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "core/point_keys.hpp"
#include "core/statistics.hpp"

namespace fourscore {
using nlohmann::json;

namespace {

struct Column {
  std::string name;
  const char* type;
  std::function<IndexValue(const json&)> value;
};

const json* at(const json& record, const std::string& path) {
  const json::json_pointer pointer(path);
  return record.contains(pointer) ? &record[pointer] : nullptr;
}

/// Strings as they are, arrays of numbers joined by `separator`, other values as JSON.
Column text(std::string name, std::string path, std::string separator = "") {
  return {std::move(name), "TEXT", [path = std::move(path), separator](const json& record) -> IndexValue {
            const json* value = at(record, path);
            if (value == nullptr) return {};
            if (value->is_string()) return value->get<std::string>();
            if (!value->is_array() || separator.empty()) return value->dump();
            std::vector<std::string> parts;
            for (const auto& part : *value) parts.push_back(part.is_string() ? part.get<std::string>() : part.dump());
            return fmt::format("{}", fmt::join(parts, separator));
          }};
}

Column integer(std::string name, std::string path) {
  return {std::move(name), "INTEGER", [path = std::move(path)](const json& record) -> IndexValue {
            const json* value = at(record, path);
            if (value == nullptr || !value->is_number_integer()) return {};
            return value->get<std::int64_t>();
          }};
}

Column real(const char* name, const char* path) {
  return {name, "REAL", [path](const json& record) -> IndexValue {
            const json* value = at(record, path);
            if (value == nullptr || !value->is_number()) return {};
            return value->get<double>();
          }};
}

std::vector<double> times_of(const json& record) {
  std::vector<double> times;
  if (const json* values = at(record, "/samples/time_s"); values != nullptr && values->is_array())
    for (const auto& value : *values)
      if (value.is_number()) times.push_back(value.get<double>());
  return times;
}

Column statistic(const char* name, std::function<IndexValue(const std::vector<double>&, const json&)> of) {
  return {name, std::string_view(name) == "repetitions" ? "INTEGER" : "REAL", [of](const json& record) -> IndexValue {
            const auto times = times_of(record);
            return times.empty() ? IndexValue{} : of(times, record);
          }};
}

IndexValue gflops(const std::vector<double>& times, const json& record) {
  const json* flops = at(record, "/credited_flops");
  const double middle = median(times);
  if (flops == nullptr || !flops->is_number() || !(middle > 0)) return {};
  return flops->get<double>() / middle / 1e9;
}

std::vector<Column> launch_columns() {
  return {
      text("record_id", "/record_id"),  text("point_id", "/point_id"),         text("campaign", "/campaign/id"),
      text("suite", "/campaign/suite"), integer("launch", "/campaign/launch"), text("component", "/point/component"),
  };
}

/// One column for each key of a point, and the number of its dimensions.
std::vector<Column> point_columns() {
  std::vector<Column> columns;
  for (const PointKey& key : point_keys()) {
    const std::string path = "/point" + std::string(key.path);
    columns.push_back(key.form == Form::integer ? integer(std::string(key.name), path)
                                                : text(std::string(key.name), path, "x"));
    if (key.name != "shape") continue;
    columns.push_back({"dims", "INTEGER", [path](const json& record) -> IndexValue {
                         const json* shape = at(record, path);
                         return shape == nullptr ? IndexValue{} : static_cast<std::int64_t>(shape->size());
                       }});
  }
  return columns;
}

std::vector<Column> result_columns() {
  using Times = std::vector<double>;
  return {
      text("parameters", "/point/parameters"),
      text("status", "/verdict/status"),
      text("reason", "/verdict/reason"),
      text("flags", "/flags", ","),
      text("started_at", "/provenance/volatile/started_at"),
      text("machine_hash", "/provenance/machine_hash"),
      text("code_hash", "/provenance/code_hash"),
      text("identity_hash", "/provenance/identity_hash"),
      text("revision", "/provenance/identity/code/revision"),
      statistic("repetitions",
                [](const Times& t, const json&) -> IndexValue { return static_cast<std::int64_t>(t.size()); }),
      statistic("min_s",
                [](const Times& t, const json&) -> IndexValue { return *std::min_element(t.begin(), t.end()); }),
      statistic("median_s", [](const Times& t, const json&) -> IndexValue { return median(t); }),
      statistic("max_s",
                [](const Times& t, const json&) -> IndexValue { return *std::max_element(t.begin(), t.end()); }),
      real("plan_s", "/plan/time_s"),
      statistic("gflops", gflops),
  };
}

const std::vector<Column>& columns() {
  static const std::vector<Column> table = [] {
    std::vector<Column> all;
    for (const auto& some : {launch_columns(), point_columns(), result_columns()})
      all.insert(all.end(), some.begin(), some.end());
    return all;
  }();
  return table;
}

/// The named keys that `object` has.
json some_of(const json& object, std::initializer_list<const char*> keys) {
  json result = json::object();
  for (const char* key : keys)
    if (const auto found = object.find(key); found != object.end()) result[key] = *found;
  return result;
}

}  // namespace

const std::vector<std::string>& index_columns() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result{"file"};
    for (const auto& column : columns()) result.emplace_back(column.name);
    return result;
  }();
  return names;
}

IndexRow index_row(const json& record, const std::string& name) {
  IndexRow row{name};
  for (const auto& column : columns()) row.push_back(column.value(record));
  return row;
}

std::vector<std::pair<std::string, std::string>> index_column_types() {
  std::vector<std::pair<std::string, std::string>> types;
  for (const auto& column : columns()) types.emplace_back(column.name, column.type);
  return types;
}

namespace {

/// Machine, launch and build by their hashes, the build's revision, and when it was measured.
json provenance_brief(const json& record) {
  const json* provenance = at(record, "/provenance");
  if (provenance == nullptr || !provenance->is_object()) return json::object();
  json brief = some_of(*provenance, {"machine_hash", "launch_hash", "code_hash"});
  if (const json* code = at(*provenance, "/identity/code"); code != nullptr && code->is_object())
    brief["identity"]["code"] = some_of(*code, {"revision", "dirty_sha256"});
  if (const json* started = at(*provenance, "/volatile/started_at"); started != nullptr)
    brief["volatile"]["started_at"] = *started;
  return brief;
}

}  // namespace

json record_brief(const json& record) {
  json brief = some_of(record, {"point_id", "point", "flags", "harness", "credited_flops", "failed_parts"});
  if (record.contains("campaign")) brief["campaign"] = some_of(record["campaign"], {"launch", "retry_of"});
  brief["verdict"] = some_of(record.at("verdict"), {"status", "reason"});
  brief["provenance"] = provenance_brief(record);
  if (record.contains("samples")) brief["samples"] = some_of(record["samples"], {"time_s", "warmup_s"});
  if (!record.contains("benchmarks")) return brief;
  json& benchmarks = brief["benchmarks"] = json::array();
  for (const auto& benchmark : record["benchmarks"]) {
    benchmarks.push_back(some_of(benchmark, {"name", "time_s", "iterations", "in_cache", "emulated"}));
    if (benchmark.contains("numbers")) benchmarks.back()["numbers"] = some_of(benchmark["numbers"], {"bytes", "flops"});
  }
  return brief;
}

}  // namespace fourscore
