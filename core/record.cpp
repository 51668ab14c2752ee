#include "core/record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "core/did_you_mean.hpp"
#include "core/point_keys.hpp"
#include "core/sha256.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

json::json_pointer path_of(const PointKey& key) { return json::json_pointer(std::string(key.path)); }

/// Beside the keys, and always "none".
json::json_pointer normalisation() { return json::json_pointer("/contract/normalisation"); }

/// Every name that a point may have, each with an object of names or null.
json allowed_names(const std::vector<PointKey>& keys) {
  json names{{"parameters", nullptr}};
  for (const PointKey& key : keys) names[path_of(key)] = nullptr;
  if (names.contains("contract")) names[normalisation()] = nullptr;
  return names;
}

void check_names(const json& object, const json& allowed, const std::string& where) {
  if (!object.is_object()) throw InputError(fmt::format("{} is {}; expected an object", where, object.dump()));
  std::vector<std::string> names;
  for (const auto& [name, within] : allowed.items()) names.push_back(name);
  for (const auto& [name, value] : object.items()) {
    if (!allowed.contains(name)) {
      throw InputError(fmt::format("{}: unknown key '{}'{}; allowed: {}", where, name, did_you_mean(name, names),
                                   fmt::join(names, ", ")));
    }
    if (allowed[name].is_object()) check_names(value, allowed[name], fmt::format("{}: {}", where, name));
  }
}

json json_of(Form form, const std::string& text) {
  if (form == Form::text || ((form == Form::grid || form == Form::count) && text == "auto")) return text;
  if (form == Form::grid && text == tuned_word) return text;
  if (form == Form::integer || form == Form::count) return json::parse(text);
  std::string extents = text;
  std::ranges::replace(extents, 'x', ',');
  return json::parse("[" + extents + "]");
}

void check_form(Form form, const json& value, const std::string& what) {
  const auto is_integer = [](const json& one) { return one.is_number_integer(); };
  const auto is_extents = [&] { return value.is_array() && std::ranges::all_of(value, is_integer); };
  const auto check = [&](bool holds, const char* expected) {
    if (!holds) throw InputError(fmt::format("{} is {}; expected {}", what, value.dump(), expected));
  };
  switch (form) {
    case Form::text:
      return check(value.is_string(), "a string");
    case Form::integer:
      return check(is_integer(value), "an integer");
    case Form::extents:
      return check(is_extents(), "an array of 1 to 3 integers");
    case Form::grid:
      return check(value == "auto" || value == tuned_word || is_extents(),
                   "\"auto\", \"tuned\" or an array of 1 to 3 integers");
    case Form::count:
      return check(value == "auto" || is_integer(value), "\"auto\" or an integer");
  }
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
  json result{{"parameters", json(point.problem.parameters)}};
  for (const PointKey& key : keys_of(point))
    if (const std::string text = key.get(point); !text.empty()) result[path_of(key)] = json_of(key.form, text);
  if (result.contains("contract")) result[normalisation()] = "none";
  return result;
}

Point point_from_json(const json& object) {
  const auto& keys = object.is_object() && object.contains("component") ? component_keys() : point_keys();
  check_names(object, allowed_names(keys), "point");
  Point point;
  std::vector<KeyText> values;
  for (const PointKey& key : keys) {
    const auto path = path_of(key);
    const std::string what = "point: " + path.back();
    if (object.contains(path)) {
      check_form(key.form, object.at(path), what);
      if (!key.derived) values.push_back({&key, point_value(object, key.name), what});
    } else if (key.required) {
      throw InputError(fmt::format("point: key '{}' is missing", path.back()));
    }
  }
  set_point_values(point, values);
  if (point.nodes > point.ranks)
    throw InputError(
        fmt::format("point: nodes is {}; expected at most as many as ranks, {}", point.nodes, point.ranks));
  for (const PointKey& key : keys)
    if (key.derived && object.contains(path_of(key)) && point_value(object, key.name) != key.get(point))
      throw InputError(fmt::format("point: {} is {}; expected {}, as follows from the others", key.name,
                                   object.at(path_of(key)).dump(), key.get(point)));
  if (object.contains(normalisation()) && object.at(normalisation()) != "none")
    throw InputError(fmt::format("point: normalisation is {}; expected \"none\"", object.at(normalisation()).dump()));
  if (object.contains("parameters")) point.problem.parameters = parameters_from_json(object["parameters"]);
  return point;
}

std::string short_hash(const json& value) { return sha256_hex(value.dump()).substr(0, 16); }

std::string point_id(const Point& point) { return point_id(point_json(point)); }

std::string point_id(const json& point) {
  if (!point.is_object() || point.value("nodes", json()) != 1 || point.value("placement_of_ranks", json()) != "block")
    return short_hash(point);
  json hashed = point;
  for (const char* key : {"nodes", "ranks_per_node", "placement_of_ranks"}) hashed.erase(key);
  return short_hash(hashed);
}

std::string new_record_id() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < 4; ++i) id += fmt::format("{:08x}", static_cast<std::uint32_t>(random()));
  return id;
}

json verdict_json(const Verdict& verdict) {
  if (std::ranges::find(verdict_statuses, verdict.status) == verdict_statuses.end())
    throw std::logic_error("no such verdict: " + verdict.status);
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
  verified.erase("sha256");  // the digest of the form that was not finished
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
