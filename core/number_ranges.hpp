#pragma once
// Sets of numbers as short text: "0-3,8,16-28/4". No MPI here.

#include <span>
#include <string>

namespace fourscore {

/// Ascending numbers, each once, as ranges: "first-last", "first-last/step" for three or more of another step than 1,
/// and single numbers; "" for none. Throws std::invalid_argument for numbers that do not ascend.
[[nodiscard]] std::string number_ranges(std::span<const int> ascending);

}  // namespace fourscore
