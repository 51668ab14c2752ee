#pragma once
// Values that the kernel shows as text files.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fourscore {

/// Nothing where the file cannot be read or its first line is empty.
[[nodiscard]] std::optional<std::string> first_line(const std::filesystem::path& file);
/// Values of "key : value" lines of /proc/cpuinfo and its like.
[[nodiscard]] std::vector<std::string> values_of(const std::filesystem::path& file, std::string_view key);

}  // namespace fourscore
