#pragma once
// Where the command's own parts are: in the build tree, or as installed.

#include <filesystem>
#include <stdexcept>
#include <string>

namespace fourscore {

/// Something outside fourscore is missing or refuses; the message says what to do. Ends in exit code 3.
struct EnvironmentError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The folder of this program's file.
[[nodiscard]] std::filesystem::path own_folder();

/// <prefix>/share/fourscore, beside <prefix>/bin/fourscore.
[[nodiscard]] std::filesystem::path share_folder();

/// The folder that holds the Python package fourscore_analysis. Throws EnvironmentError.
[[nodiscard]] std::filesystem::path analysis_folder();

/// What fourscore was installed with, in its share folder as `name`, else in the source tree as `in_source`. Empty
/// where there is neither.
[[nodiscard]] std::filesystem::path shipped_folder(const std::string& name, const std::string& in_source);

/// Cores this program may run on (affinity and cgroup as the kernel shows them); hyperthreads count once.
[[nodiscard]] int usable_cores();

}  // namespace fourscore
