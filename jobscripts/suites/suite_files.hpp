#pragma once
// Where suites are found.

#include <filesystem>
#include <string>
#include <vector>

namespace fourscore {

/// $FOURSCORE_SUITES, else the share folder this program is installed with, else the source tree's suites/.
[[nodiscard]] std::vector<std::filesystem::path> suite_folders();

/// A path as given, or a bare name found in the suite folders. Throws InputError with the nearest name.
[[nodiscard]] std::filesystem::path find_suite(const std::string& name);

/// All suites of the suite folders, sorted by name. Throws EnvironmentError where a folder cannot be read.
[[nodiscard]] std::vector<std::filesystem::path> all_suites();

}  // namespace fourscore
