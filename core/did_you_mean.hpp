#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fourscore {

/// For the message about a wrong name, after the name: ", did you mean 'slab'?", or nothing where no candidate is near.
[[nodiscard]] std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace fourscore
