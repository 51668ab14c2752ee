#pragma once
// Maps of pieces to ranks that somebody wrote into a file: one rank a line, for pieces 0, 1, 2 and so on.

#include <string>
#include <string_view>
#include <vector>

namespace fourscore {

inline constexpr std::string_view map_prefix = "file:";

/// Reads the map that "file:PATH" names, or "file:PATH#HASH". Returns the second form, with the first 16 digits of the
/// SHA-256 of the content, by which rank_map() knows it from then on. Throws InputError naming `what` where there is no
/// such file, a line is no rank, or the content has another hash.
[[nodiscard]] std::string read_rank_map(const std::string& value, std::string_view what);

/// The ranks of a map that was read. Throws InputError for one that was not.
[[nodiscard]] const std::vector<int>& rank_map(const std::string& value);

}  // namespace fourscore
