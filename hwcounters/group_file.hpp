#pragma once
// The form of a group file; what it says is group.hpp's.

#include <filesystem>
#include <set>
#include <string>

namespace fourscore {

/// The backends that a group file has a table for. Throws CounterRequestError "file:line: ..." where it is no TOML.
[[nodiscard]] std::set<std::string> backends_of(const std::filesystem::path& file);

}  // namespace fourscore
