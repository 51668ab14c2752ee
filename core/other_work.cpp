#include "core/other_work.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "core/errors.hpp"
#include "core/text.hpp"

namespace fourscore {
namespace {

constexpr std::int64_t least_ns = 1'000;
constexpr std::int64_t most_ns = 100'000'000'000;
/// A unit whose name ends in another's comes before that one.
constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> units{
    {{"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}, {"s", 1'000'000'000}}};
constexpr std::array largest_first{units[3], units[0], units[1], units[2]};

}  // namespace

std::int64_t parse_work_time(std::string_view text, std::string_view what) {
  if (text == "none") return 0;
  for (const auto& [unit, length_ns] : units) {
    if (!text.ends_with(unit)) continue;
    const auto count = number_from<double>(text.substr(0, text.size() - unit.size()));
    if (!count) break;
    const double time_ns = *count * static_cast<double>(length_ns);
    if (!(time_ns >= static_cast<double>(least_ns) && time_ns <= static_cast<double>(most_ns))) break;
    return std::llround(time_ns);
  }
  throw InputError(fmt::format("{} '{}': expected none, or a time from 1us to 100s with its unit, as 2ms", what, text));
}

std::string work_time_text(std::int64_t time_ns) {
  if (time_ns == 0) return {};
  for (const auto& [unit, length_ns] : largest_first)
    if (time_ns % length_ns == 0) return fmt::format("{}{}", time_ns / length_ns, unit);
  throw std::logic_error("no unit divides a whole number of nanoseconds");
}

}  // namespace fourscore
