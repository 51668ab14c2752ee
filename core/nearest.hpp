#pragma once
// What a wrong name was meant to be: for the messages of every part.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fourscore {

/// The candidate nearest to `name` by edit distance, if any is near enough to suggest.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view name,
                                                      const std::vector<std::string>& candidates);

}  // namespace fourscore
