#pragma once
// The keys of a measurement point, said once: suites, command lines, records, the index and exports go by this table.

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/problem.hpp"

namespace fourscore {

/// How a value stands in JSON.
enum class Form {
  text,     ///< a string
  integer,  ///< a whole number of at least 1
  extents,  ///< an array of 1 to 3 whole numbers; as text joined by x
  grid,     ///< extents, "auto" or "tuned"
  count,    ///< an integer, or "auto"
};

struct PointKey {
  std::string_view name{};    ///< in suites and messages; the index's column
  std::string_view option{};  ///< fft_bench's option; empty where there is none
  std::string_view path{};    ///< JSON pointer within the record's "point"
  Form form = Form::text;
  bool required = false;
  bool of_launch = false;                      ///< the launcher decides it, and a program can only see whether it is so
  bool derived = false;                        ///< follows from others; a record says it all the same
  bool labelled = false;                       ///< in flat names: "ranks:4" in place of "4"
  std::string help{};                          ///< for the option
  std::string (*get)(const Point&) = nullptr;  ///< canonical text; empty: not said
  void (*set)(Point&, const std::string&, std::string_view what) = nullptr;  ///< throws InputError naming `what`
};

/// All keys of a transform's point but "parameters.<name>".
[[nodiscard]] const std::vector<PointKey>& point_keys();
/// The same of a component alone.
[[nodiscard]] const std::vector<PointKey>& component_keys();
[[nodiscard]] const std::vector<PointKey>& keys_of(const Point& point);
/// The key of either table that has this name, or null.
[[nodiscard]] const PointKey* find_point_key(std::string_view name);
[[nodiscard]] std::vector<std::string> names_of(const std::vector<PointKey>& keys);

/// Sets one part from its text. Keys are those of point_keys(), component_keys() or "parameters.<name>". Throws
/// InputError.
void set_point_value(Point& point, std::string_view key, const std::string& text);

/// A key's text, and what messages call it.
struct KeyText {
  const PointKey* key;
  std::string text;
  std::string what;
};
/// Sets several parts. Throws InputError also where kind and direction contradict each other.
void set_point_values(Point& point, const std::vector<KeyText>& values);

/// The canonical text of one part; empty for a parameter that is not set.
[[nodiscard]] std::string point_value(const Point& point, std::string_view key);
/// The same of a record's "point", whatever it holds; where it says nothing, the default. No parameters.
[[nodiscard]] std::string point_value(const nlohmann::json& point, std::string_view key);

/// ", name value" of each key that has another value than by default, follows from no others and is none of `told`.
/// `point`: a Point, or a record's "point".
template <class AnyPoint>
[[nodiscard]] std::string further_values(const AnyPoint& point, std::initializer_list<std::string_view> told) {
  std::string text;
  for (const PointKey& key : point_keys()) {
    if (key.derived || std::ranges::find(told, key.name) != told.end()) continue;
    if (const std::string value = point_value(point, key.name); value != key.get({}))
      text.append(", ").append(key.name).append(" ").append(value);
  }
  return text;
}

/// Canonical text of the whole point: equal exactly for equal points.
[[nodiscard]] std::string point_text(const Point& point);

/// " name=value" of every parameter: empty when there are none.
[[nodiscard]] std::string parameters_text(const Point& point);

/// The options of fft_bench, or of the component program, that ask for this point. Those of the launch say what the
/// launcher must have done.
[[nodiscard]] std::vector<std::string> point_options(const Point& point);
/// The parameters of those options: NAME=VALUE, each name once. Throws InputError.
[[nodiscard]] std::map<std::string, std::string> parse_parameters(const std::vector<std::string>& options);

}  // namespace fourscore
