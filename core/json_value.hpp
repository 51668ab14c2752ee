#pragma once
// Values of JSON that somebody else may have written: what is missing, or of another type, is as if it were not there.

#include <nlohmann/json.hpp>
#include <string>

namespace fourscore {

template <class Value>
[[nodiscard]] Value value_or(const nlohmann::json& object, const char* key, Value otherwise) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (found == object.end()) return otherwise;
  try {
    return found->template get<Value>();
  } catch (const nlohmann::json::type_error&) {
    return otherwise;
  }
}
[[nodiscard]] inline std::string value_or(const nlohmann::json& object, const char* key, const char* otherwise) {
  return value_or(object, key, std::string(otherwise));
}

}  // namespace fourscore
