#include "jobscripts/base/rate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include "core/errors.hpp"

namespace fourscore {
namespace {

constexpr double frame_bytes = 1514;  ///< the longest: MTU 1500 and the header

/// Slower, the answers of TCP come too late for MPI to start; faster, the timers of the kernel come too late.
constexpr double lowest = 64e3;
constexpr double highest = 10e9;

/// Up to this rate the kernel's timers come in time for every second frame. Beyond they may be late by late_timer_s
/// without a loss of throughput.
constexpr double rate_by_frames = 100e6;
constexpr double late_timer_s = 2e-3;

/// More than the connections of all hosts have under way to one, so that nothing is dropped.
constexpr std::int64_t queue_bytes = std::int64_t{8} << 20;

constexpr std::array<std::pair<std::string_view, double>, 14> units{{{"bit", 1},
                                                                     {"kbit", 1e3},
                                                                     {"mbit", 1e6},
                                                                     {"gbit", 1e9},
                                                                     {"tbit", 1e12},
                                                                     {"kibit", 1024.0},
                                                                     {"mibit", 1024.0 * 1024},
                                                                     {"gibit", 1024.0 * 1024 * 1024},
                                                                     {"bps", 8},
                                                                     {"kbps", 8e3},
                                                                     {"mbps", 8e6},
                                                                     {"gbps", 8e9},
                                                                     {"tbps", 8e12},
                                                                     {"", 1}}};

/// Not a number where it is no rate.
double bits_per_s(const std::string& text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  std::string unit = text.substr(end);
  std::ranges::transform(unit, unit.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto* const found = std::ranges::find(units, unit, [](const auto& entry) { return entry.first; });
  const std::string number = text.substr(0, end);
  if (found == units.end() || number.empty() || number.size() > 15 || number == "." ||
      std::ranges::count(number, '.') > 1)
    return std::nan("");
  return std::stod(number) * found->second;
}

}  // namespace

double parse_link_rate(const std::string& text, std::string_view what) {
  const double rate = bits_per_s(text);
  if (std::isnan(rate))
    throw InputError(
        fmt::format("{} is '{}'; expected a rate as tc(8) has it, as 10mbit, 100mbit or 1gbit", what, text));
  if (rate < lowest || rate > highest)
    throw InputError(
        fmt::format("{} is '{}'; a token bucket (tc-tbf) holds rates from 64kbit to 10gbit here", what, text));
  return rate;
}

TokenBucket token_bucket(double rate) {
  const double burst = rate > rate_by_frames ? rate / 8 * late_timer_s : 2 * frame_bytes;
  return {std::llround(rate), std::llround(burst), queue_bytes};
}

std::string laboratory_interconnect(const std::string& rate) {
  return rate.empty() ? "netns TCP, not limited" : fmt::format("netns TCP, {} (tbf)", rate);
}

}  // namespace fourscore
