#pragma once
// The rate of a link of a laboratory, and the token bucket (tc-tbf(8)) that holds it.

#include <cstdint>
#include <string>
#include <string_view>

namespace fourscore {

/// Bits per second of a rate as tc(8) has it: "100mbit", "1.5gbit", "12mbps" (bytes per second). Headers count: it is
/// the rate of Ethernet frames. Throws InputError, `what` first, for what is no rate, and for one that a token bucket
/// does not hold.
[[nodiscard]] double parse_link_rate(const std::string& text, std::string_view what);

/// The arguments of tc(8) for a link.
struct TokenBucket {
  std::int64_t rate_bits_per_s;
  std::int64_t burst_bytes;  ///< sent at once after a pause
  std::int64_t queue_bytes;  ///< what waits beyond that is dropped
};
[[nodiscard]] TokenBucket token_bucket(double bits_per_s);

/// What a machine's identity says of such links, as "netns TCP, 100mbit (tbf)". An empty rate: they are not limited.
[[nodiscard]] std::string laboratory_interconnect(const std::string& rate);

}  // namespace fourscore
