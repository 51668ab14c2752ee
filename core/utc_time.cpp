#include "core/utc_time.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace fourscore {

std::string utc_text(std::chrono::system_clock::time_point time) {
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time - second).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(second)), ms);
}

}  // namespace fourscore
