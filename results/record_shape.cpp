#include "results/record_shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/point_keys.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

/// A type: how it is called in messages, and the values that are of it.
struct Type {
  std::string name;
  std::function<bool(const json&)> holds;
};

bool whole(const json& value, std::int64_t least, std::int64_t largest) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() <= static_cast<std::uint64_t>(largest);
  return value.is_number_integer() && value.get<std::int64_t>() >= least && value.get<std::int64_t>() <= largest;
}

Type integer(std::int64_t least, std::int64_t largest) {
  return {fmt::format("an integer from {} to {}", least, largest),
          [=](const json& value) { return whole(value, least, largest); }};
}

Type list_of(const Type& element, const std::string& name) {
  return {name, [element](const json& value) {
            return value.is_array() && std::all_of(value.begin(), value.end(), element.holds);
          }};
}

Type object_of(const Type& element, const std::string& name) {
  return {name, [element](const json& value) {
            return value.is_object() && std::all_of(value.begin(), value.end(), element.holds);
          }};
}

constexpr auto int_max = std::numeric_limits<std::int32_t>::max();
constexpr auto long_max = std::numeric_limits<std::int64_t>::max();

const Type text{"a string", [](const json& value) { return value.is_string(); }};
const Type boolean{"true or false", [](const json& value) { return value.is_boolean(); }};
const Type object{"an object", [](const json& value) { return value.is_object(); }};
const Type number{"a number", [](const json& value) { return value.is_number(); }};
const Type count = integer(0, int_max);
const Type large = integer(0, long_max);
const Type positive = integer(1, int_max);
const Type extent = integer(1, long_max);
const Type counts = list_of(count, "an array of integers from 0");
const Type texts = list_of(text, "an array of strings");
const Type numbers = list_of(number, "an array of numbers");
const Type matrix = list_of(numbers, "an array of arrays of numbers");
const Type pieces = list_of(integer(-1, int_max), "an array of integers from -1");
const Type shape{"an array of 1 to 3 positive integers", [](const json& value) {
                   return !value.empty() && value.size() <= 3 && list_of(extent, "").holds(value);
                 }};
const Type grid{"\"auto\" or an array of 1 to 3 positive integers",
                [](const json& value) { return value == "auto" || shape.holds(value); }};
const Type by_phase = object_of(matrix, "an object of arrays of arrays of numbers");
const Type text_by_name = object_of(text, "an object of strings");
const Type number_by_name = object_of(number, "an object of numbers");

struct Key {
  std::vector<std::string> path;
  Type type;
  bool required = false;  ///< where what holds it is there
};

constexpr bool required = true;

const std::vector<Key>& keys_of_records() {
  static const std::vector<Key> keys{
      {{"sha256"}, text},
      {{"record_id"}, text},
      {{"point_id"}, text, required},
      {{"point"}, object, required},
      {{"point", "parameters"}, text_by_name},
      {{"verdict"}, object, required},
      {{"verdict", "status"}, text, required},
      {{"verdict", "reason"}, text},
      {{"campaign"}, object},
      {{"campaign", "id"}, text},
      {{"campaign", "suite"}, text},
      {{"campaign", "launch"}, count},
      {{"campaign", "retry_of"}, count},
      {{"failed_parts"}, object},
      {{"sampling"}, object},
      {{"sampling", "repetitions"}, count},
      {{"samples"}, object},
      {{"samples", "time_s"}, numbers, required},
      {{"samples", "warmup_s"}, numbers},
      {{"samples", "time_is"}, text},
      {{"samples", "start_skew_s"}, numbers},
      {{"samples", "clock"}, object},
      {{"samples", "clock", "uncertainty_s"}, number},
      {{"samples", "rank_total_s"}, matrix},
      {{"samples", "forward_s"}, numbers},
      {{"samples", "rank_forward_s"}, matrix},
      {{"samples", "instance_time_s"}, matrix},
      {{"samples", "rank_phase_s"}, by_phase},
      {{"rank_columns"}, object},
      {{"rank_columns", "file"}, text, required},
      {{"rank_columns", "sha256"}, text, required},
      {{"rank_columns", "bytes"}, large, required},
      {{"timeline"}, object},
      {{"plan"}, object},
      {{"plan", "time_s"}, number},
      {{"credited_flops"}, number},
      {{"flags"}, texts},
      {{"harness"}, object},
      {{"provenance"}, object},
      {{"provenance", "machine_hash"}, text},
      {{"provenance", "code_hash"}, text},
      {{"provenance", "identity_hash"}, text},
      {{"provenance", "identity"}, object},
      {{"provenance", "identity", "code"}, object},
      {{"provenance", "identity", "code", "revision"}, text},
      {{"provenance", "identity", "code", "build_type"}, text},
      {{"provenance", "identity", "machine"}, object},
      {{"provenance", "identity", "machine", "cores"}, count},
      {{"provenance", "volatile"}, object},
      {{"provenance", "volatile", "started_at"}, text},
      {{"provenance", "volatile", "cpu_mhz"}, number},
      {{"provenance", "volatile", "governor"}, text},
      {{"provenance", "volatile", "hosts"}, texts},
      {{"provenance", "volatile", "load_1min"}, number},
  };
  return keys;
}

const Type& type_of(Form form) {
  switch (form) {
    case Form::integer:
      return positive;
    case Form::extents:
      return shape;
    case Form::grid:
      return grid;
    case Form::text:
      break;
  }
  return text;
}

/// "/contract/layout" -> "contract", "layout"
std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::size_t end = std::min(path.find('/'), path.size());
    parts.emplace_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return parts;
}

std::vector<Key> keys_within_points(const std::vector<PointKey>& point_keys) {
  std::vector<Key> keys{{{"point", "contract"}, object}};
  for (const PointKey& known : point_keys) {
    Key key{{"point"}, type_of(known.form), known.required};
    for (std::string& part : parts_of(known.path)) key.path.push_back(std::move(part));
    keys.push_back(std::move(key));
  }
  return keys;
}

const std::vector<Key>& keys_of_points(const json& point) {
  static const std::vector<Key> of_transforms = keys_within_points(point_keys());
  static const std::vector<Key> of_components = keys_within_points(component_keys());
  return point.contains("component") ? of_components : of_transforms;
}

/// Arrays of objects: where they are, and the keys of each element.
struct Elements {
  std::vector<std::string> path;
  std::vector<Key> keys;
  bool required = false;
};

const std::vector<Elements>& arrays_of_records() {
  static const std::vector<Elements> arrays{
      {{"isolated"}, {{{"name"}, text, required}, {{"time_s"}, numbers, required}, {{"rank_s"}, matrix}}},
      {{"benchmarks"},
       {{{"name"}, text, required},
        {{"kernel"}, text},
        {{"labels"}, text_by_name},
        {{"numbers"}, number_by_name},
        {{"iterations"}, number},
        {{"time_s"}, numbers, required},
        {{"rank_s"}, matrix},
        {{"in_cache"}, boolean},
        {{"emulated"}, boolean}}},
      {{"rank_columns", "columns"}, {{{"path"}, text, required}, {{"shape"}, counts, required}}, required},
      {{"timeline", "lanes"},
       {{{"rank"}, count, required},
        {{"lane"}, count, required},
        {{"dropped"}, large},
        {{"phase"}, texts, required},
        {{"begin_s"}, numbers, required},
        {{"end_s"}, numbers, required},
        {{"piece"}, pieces}},
       required},
      {{"provenance", "identity", "machine", "caches"},
       {{{"level"}, count}, {{"bytes"}, large}, {{"shared_by"}, count}}},
  };
  return arrays;
}

/// The value at `path`, or null; `holder` tells whether the object that should have it is there.
const json* find(const json& record, const std::vector<std::string>& path, bool& holder) {
  const json* value = &record;
  for (std::size_t i = 0; i < path.size(); ++i) {
    holder = value->is_object();
    if (!holder) return nullptr;
    const auto found = value->find(path[i]);
    if (found == value->end()) {
      holder = i + 1 == path.size();
      return nullptr;
    }
    value = &*found;
  }
  return value;
}

std::string excerpt(const json& value) {
  const std::string all = value.dump(-1, ' ', true, json::error_handler_t::replace);
  return all.size() <= 60 ? all : all.substr(0, 60) + "...";
}

std::string mistyped(const std::string& name, const json& value, const std::string& expected) {
  return fmt::format("key '{}' is {}; expected {}", name, excerpt(value), expected);
}

std::string first_problem(const json& value, const std::vector<Key>& keys, const std::string& prefix) {
  for (const Key& key : keys) {
    bool holder = false;
    const json* found = find(value, key.path, holder);
    std::string name = prefix;
    for (const auto& part : key.path) name += (name.empty() ? "" : ".") + part;
    if (found == nullptr && key.required && holder)
      return fmt::format("key '{}' is missing; expected {}", name, key.type.name);
    if (found != nullptr && !key.type.holds(*found)) return mistyped(name, *found, key.type.name);
  }
  return {};
}

std::string problem_of_elements(const json& record, const Elements& elements) {
  bool holder = false;
  const json* list = find(record, elements.path, holder);
  const std::string name = fmt::to_string(fmt::join(elements.path, "."));
  if (list == nullptr)
    return elements.required && holder ? fmt::format("key '{}' is missing; expected an array of objects", name) : "";
  if (!list->is_array()) return mistyped(name, *list, "an array of objects");
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string place = fmt::format("{}[{}]", name, i);
    if (!(*list)[i].is_object()) return mistyped(place, (*list)[i], "an object");
    if (std::string problem = first_problem((*list)[i], elements.keys, place); !problem.empty()) return problem;
  }
  return {};
}

}  // namespace

std::string shape_problem(const json& record) {
  if (std::string problem = first_problem(record, keys_of_records(), ""); !problem.empty()) return problem;
  if (std::string problem = first_problem(record, keys_of_points(record.at("point")), ""); !problem.empty())
    return problem;
  for (const Elements& elements : arrays_of_records())
    if (std::string problem = problem_of_elements(record, elements); !problem.empty()) return problem;
  return {};
}

}  // namespace fourscore
