#pragma once
// Changes of a series' times that a maintainer expects, in a TOML file of the repository (docs/history.md).

#include <filesystem>
#include <nlohmann/json.hpp>

namespace fourscore {

/// The changes of the file, in the order written: [{ "file", "line", "series": { key: pattern }, "first", "last",
/// "reason" }]. Throws InputError with file and line for an unknown key, for one that is missing, empty or of another
/// type, and for a file that cannot be read.
[[nodiscard]] nlohmann::json read_acknowledgements(const std::filesystem::path& file);

}  // namespace fourscore
