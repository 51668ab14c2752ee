#pragma once
// The keys by which suites and command lines name the parts of a Point, as text.

#include <string>
#include <string_view>
#include <vector>

#include "core/problem.hpp"

namespace fourscore {

/// All keys of a transform's point but "parameters.<name>".
[[nodiscard]] const std::vector<std::string>& point_keys();
/// The same of a component alone.
[[nodiscard]] const std::vector<std::string>& component_keys();

/// Sets one part from its text. Keys are those of point_keys(), component_keys() or "parameters.<name>". Throws
/// InputError.
void set_point_value(Point& point, std::string_view key, const std::string& text);

/// The canonical text of one part; empty for a parameter that is not set.
[[nodiscard]] std::string point_value(const Point& point, std::string_view key);

/// Canonical text of the whole point: equal exactly for equal points.
[[nodiscard]] std::string point_text(const Point& point);

/// " name=value" of every parameter: empty when there are none.
[[nodiscard]] std::string parameters_text(const Point& point);

/// The options of fft_bench, or of the component program, that ask for this point (not the rank count, which the
/// launcher sets).
[[nodiscard]] std::vector<std::string> point_options(const Point& point);

}  // namespace fourscore
