#pragma once
// A moment that a program tells another one which it starts.

#include <optional>
#include <string>

namespace fourscore {

/// By both clocks: the calendar's may be set in between, and the steady one is that of one boot of one machine.
struct Moment {
  double epoch_s = 0;
  double steady_s = 0;
  std::string boot{};  ///< the running kernel's own number; empty: unknown
  bool operator==(const Moment&) const = default;
};

[[nodiscard]] Moment this_moment();

/// "EPOCH_S,STEADY_S,BOOT"; with an unknown boot "EPOCH_S".
[[nodiscard]] std::string moment_text(const Moment& moment);
/// The same back. Throws InputError naming `what`.
[[nodiscard]] Moment parse_moment(const std::string& text, const std::string& what);

/// The time from one to the other: by the steady clock where both are of one boot, else by the calendar. Nothing where
/// the calendar went back.
[[nodiscard]] std::optional<double> seconds_between(const Moment& then, const Moment& now);

}  // namespace fourscore
