#include "core/moment.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <fstream>

#include "core/errors.hpp"
#include "core/text.hpp"

namespace fourscore {
namespace {

template <class Clock>
double seconds_of() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

std::string this_boot() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return boot;
}

bool read_seconds(const std::string& text, double& seconds) {
  seconds = number_from<double>(text).value_or(0);
  return std::isfinite(seconds) && seconds > 0;
}

}  // namespace

Moment this_moment() {
  return {seconds_of<std::chrono::system_clock>(), seconds_of<std::chrono::steady_clock>(), this_boot()};
}

std::string moment_text(const Moment& moment) {
  // All digits: a rounded moment may be later than the next one.
  return moment.boot.empty() ? fmt::format("{}", moment.epoch_s)
                             : fmt::format("{},{},{}", moment.epoch_s, moment.steady_s, moment.boot);
}

Moment parse_moment(const std::string& text, const std::string& what) {
  const std::size_t first = text.find(',');
  const std::size_t second = first == std::string::npos ? first : text.find(',', first + 1);
  Moment moment;
  bool whole = read_seconds(text.substr(0, first), moment.epoch_s);
  if (whole && first != std::string::npos) {
    whole = second != std::string::npos && second + 1 < text.size() &&
            read_seconds(text.substr(first + 1, second - first - 1), moment.steady_s);
    if (whole) moment.boot = text.substr(second + 1);
  }
  if (!whole)
    throw InputError(fmt::format(
        "{} is '{}'; expected seconds since the epoch, or those, the steady clock's and the kernel's boot_id", what,
        text));
  return moment;
}

std::optional<double> seconds_between(const Moment& then, const Moment& now) {
  const bool one_boot = !then.boot.empty() && then.boot == now.boot;
  const double seconds = one_boot ? now.steady_s - then.steady_s : now.epoch_s - then.epoch_s;
  if (seconds < 0) return std::nullopt;
  return seconds;
}

}  // namespace fourscore
