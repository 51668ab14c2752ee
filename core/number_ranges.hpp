#pragma once
// Sets of numbers as short text: "0-3,8,16-28/4". No MPI here.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fourscore {

/// Ascending numbers, each once, as ranges: "first-last", "first-last/step" for three or more of another step than 1,
/// and single numbers; "" for none. Throws std::invalid_argument for numbers that do not ascend.
[[nodiscard]] std::string number_ranges(std::span<const int> ascending);

/// The numbers of such a text; nothing for a text that is none, or of more numbers than `most`.
[[nodiscard]] std::optional<std::vector<int>> numbers_of_ranges(std::string_view text, std::size_t most = 1U << 20U);

}  // namespace fourscore
