#pragma once
// Where the command's own parts are: in the build tree, or as installed.

#include <filesystem>
#include <stdexcept>

#include "core/installed.hpp"

namespace fourscore {

/// Something outside fourscore is missing or refuses; the message says what to do. Ends in exit code 3.
struct EnvironmentError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The folder that holds the Python package fourscore_analysis. Throws EnvironmentError.
[[nodiscard]] std::filesystem::path analysis_folder();

/// Cores this program may run on (affinity and cgroup as the kernel shows them); hyperthreads count once.
[[nodiscard]] int usable_cores();

}  // namespace fourscore
