#include "core/did_you_mean.hpp"

#include <fmt/format.h>

#include "core/nearest.hpp"

namespace fourscore {

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  const auto nearest = nearest_name(name, candidates);
  return nearest ? fmt::format(", did you mean '{}'?", *nearest) : "";
}

}  // namespace fourscore
