#pragma once
// Points in time as records have them.

#include <chrono>
#include <string>

namespace fourscore {

/// 2026-11-26T16:05:19.123Z; also before 1970, as of a machine whose clock has no battery.
[[nodiscard]] std::string utc_text(std::chrono::system_clock::time_point time);
[[nodiscard]] inline std::string now_utc() { return utc_text(std::chrono::system_clock::now()); }

}  // namespace fourscore
