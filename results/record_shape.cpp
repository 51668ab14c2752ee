#include "results/record_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "results/record_schema.hpp"

namespace fourscore {
namespace {

using nlohmann::json;
using valijson::adapters::NlohmannJsonAdapter;

/// What says more than types: a reader can do without.
constexpr std::array<std::string_view, 14> beyond_types{
    "required",  "allOf",         "const", "enum",    "exclusiveMinimum", "maxItems",      "minItems",
    "minLength", "minProperties", "not",   "pattern", "uniqueItems",      "propertyNames", "$schema"};

/// The schema without them, and with unknown keys allowed. Bounds stay where they are of integers. A choice by a
/// constant ("grid" is "auto", or an array) stays as it is.
json types_of(const json& schema) {
  if (schema.is_array()) {
    json kept = json::array();
    for (const json& one : schema) kept.push_back(types_of(one));
    return kept;
  }
  if (!schema.is_object()) return schema;
  const bool is_integer = schema.value("type", json()) == "integer";
  json kept = json::object();
  for (const auto& [key, value] : schema.items()) {
    if (key == "properties" || key == "$defs") {
      kept[key] = json::object();
      for (const auto& [name, one] : value.items()) kept[key][name] = types_of(one);
    } else if (key == "enum" && !schema.contains("type") && std::ranges::all_of(value, &json::is_string)) {
      kept["type"] = "string";
    } else if (key == "relied_on") {
      kept["required"] = value;
    } else if (key == "oneOf" || key == "if") {
      kept[key] = value;
    } else if (key == "additionalProperties" && value.is_boolean()) {
      continue;
    } else if (std::ranges::find(beyond_types, key) == beyond_types.end() && (key != "minimum" || is_integer)) {
      kept[key] = types_of(value);
    }
  }
  return kept;
}

class RecordSchema {
 public:
  explicit RecordSchema(json schema) : schema_(std::move(schema)) {
    valijson::SchemaParser parser;
    parser.populateSchema(NlohmannJsonAdapter(schema_), compiled_);
  }

  /// Empty when the record is as the schema says; else its innermost problem.
  [[nodiscard]] std::string problem(const json& record) const {
    valijson::Validator validator(valijson::Validator::kStrongTypes);
    valijson::ValidationResults results;
    if (validator.validate(compiled_, NlohmannJsonAdapter(record), &results)) return {};
    valijson::ValidationResults::Error innermost, one;
    while (results.popError(one))
      if (one.context.size() > innermost.context.size()) innermost = one;
    return told(record, innermost);
  }

 private:
  /// "key 'point.threads' is "x"; expected an integer from 1 to 2147483647"
  [[nodiscard]] std::string told(const json& record, const valijson::ValidationResults::Error& error) const {
    const json* value = &record;
    const json* expected = &schema_;
    std::string name;
    for (std::size_t i = 1; i < error.context.size(); ++i) {  // the first is the root
      const std::string part = error.context[i].substr(1, error.context[i].size() - 2);
      name += value->is_array() ? "[" + part + "]" : (name.empty() ? "" : ".") + part;
      expected = &part_of(*expected, value->is_array() ? "" : part, *value);
      value = value->is_array() ? &value->at(std::stoul(part)) : &value->at(part);
    }
    const std::string& description = error.description;
    const auto last = description.rfind('\''), first = description.rfind('\'', last == 0 ? 0 : last - 1);
    const std::string named = first < last ? description.substr(first + 1, last - first - 1) : "";
    const std::string prefix = name.empty() ? "" : name + ".";
    if (description.starts_with("Missing required property"))
      return fmt::format("key '{}{}' is missing; expected {}", prefix, named,
                         text_of(part_of(*expected, named, *value)));
    if (description.starts_with("Object contains a property"))
      return fmt::format("key '{}{}' is none of a record's", prefix, named);
    if (name.empty()) return "the keys of the record do not belong together: " + description;
    if (description.find("'const'") != std::string::npos)  // a condition looks at other keys too
      return fmt::format("key '{}' is {}, which does not go with the rest of the record", name, excerpt(*value));
    return fmt::format("key '{}' is {}; expected {}", name, excerpt(*value), text_of(*expected));
  }

  [[nodiscard]] const json& referred(const json& schema) const {
    return schema_.at(json::json_pointer(schema.at("$ref").get<std::string>().substr(1)));
  }

  /// What `holder` has at `key`; nothing: an empty object.
  [[nodiscard]] static const json& at_or_nothing(const json& holder, const std::string& key) {
    static const json nothing = json::object();
    const auto found = holder.find(key);
    return found == holder.end() || !found->is_object() ? nothing : *found;
  }

  /// The schema of a key or, for an empty `key`, of an array's elements; `value` is what holds it.
  [[nodiscard]] const json& part_of(const json& holder, const std::string& key, const json& value) const {
    if (holder.contains("$ref")) return part_of(referred(holder), key, value);
    if (holder.contains("if")) {
      const bool holds = std::ranges::all_of(holder.at("if").at("required"), [&](const json& wanted) {
        return value.contains(wanted.get<std::string>());
      });
      return part_of(holder.at(holds ? "then" : "else"), key, value);
    }
    if (key.empty()) return at_or_nothing(holder, "items");
    const json& properties = at_or_nothing(holder, "properties");
    if (const auto found = properties.find(key); found != properties.end()) return *found;
    return at_or_nothing(holder, "additionalProperties");
  }

  /// In words: "an integer from 1 to 2147483647", "an array of numbers".
  [[nodiscard]] std::string text_of(const json& schema, bool several = false) const {
    if (schema.contains("$ref")) return text_of(referred(schema), several);
    if (schema.contains("enum")) return fmt::format("one of {}", schema["enum"].dump());
    if (schema.contains("const")) return schema["const"].dump();
    if (schema.contains("oneOf")) {
      std::string text;
      for (const json& one : schema["oneOf"]) text += (text.empty() ? "" : " or ") + text_of(one);
      return text;
    }
    if (schema.contains("if")) return several ? "objects" : "an object";
    const json type = schema.value("type", json());
    if (type == "integer") return integer_text(schema, several);
    if (type == "array")
      return (several ? "arrays" : "an array") + (" of " + text_of(schema.value("items", json::object()), true));
    if (type == "string" && schema.contains("pattern"))
      return fmt::format("{} as {}", several ? "strings" : "a string", schema["pattern"].get<std::string>());
    for (const auto& [name, one, more] : {std::array{"string", "a string", "strings"},
                                          {"number", "a number", "numbers"},
                                          {"boolean", "true or false", "true or false"},
                                          {"object", "an object", "objects"}})
      if (type == name) return several ? more : one;
    return several ? "values" : "another value";
  }

  static std::string integer_text(const json& schema, bool several) {
    std::string text = several ? "integers" : "an integer";
    if (schema.contains("minimum")) text += " from " + schema["minimum"].dump();
    if (schema.contains("exclusiveMinimum")) text += " above " + schema["exclusiveMinimum"].dump();
    if (schema.contains("maximum")) text += " to " + schema["maximum"].dump();
    return text;
  }

  static std::string excerpt(const json& value) {
    const std::string all = value.dump(-1, ' ', true, json::error_handler_t::replace);
    return all.size() <= 60 ? all : all.substr(0, 60) + "...";
  }

  json schema_;
  valijson::Schema compiled_;
};

}  // namespace

std::string shape_problem(const json& record) {
  static const RecordSchema types(types_of(json::parse(run_record_schema())));
  return types.problem(record);
}

std::string schema_problem(const json& record) {
  static const RecordSchema schema(json::parse(run_record_schema()));
  const std::string of_types = shape_problem(record);
  return of_types.empty() ? schema.problem(record) : of_types;
}

}  // namespace fourscore
