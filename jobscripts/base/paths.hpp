#pragma once
// Where the command's own parts are: in the build tree, or as installed.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace fourscore {

/// Something outside fourscore is missing or refuses; the message says what to do. Ends in exit code 3.
struct EnvironmentError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The folder of this program's file.
[[nodiscard]] std::filesystem::path own_folder();

/// fft_bench: --bench, else $FOURSCORE_BENCH, else beside this program, else in libexec, else in PATH.
/// Throws EnvironmentError.
[[nodiscard]] std::filesystem::path find_bench(const std::string& option);

/// $FOURSCORE_SUITES, else the share folder this program is installed with, else the source tree's suites/.
[[nodiscard]] std::vector<std::filesystem::path> suite_folders();

/// A path as given, or a bare name found in the suite folders. Throws InputError with the nearest name.
[[nodiscard]] std::filesystem::path find_suite(const std::string& name);

/// All suites of the suite folders, sorted by name. Throws EnvironmentError where a folder cannot be read.
[[nodiscard]] std::vector<std::filesystem::path> all_suites();

/// The folder that holds the Python package fourscore_analysis. Throws EnvironmentError.
[[nodiscard]] std::filesystem::path analysis_folder();

/// What fourscore was installed with, in its share folder as `name`, else in the source tree as `in_source`. Empty
/// where there is neither.
[[nodiscard]] std::filesystem::path shipped_folder(const std::string& name, const std::string& in_source);

/// --archive, else $FOURSCORE_ARCHIVE, else `of_machine` (what a machine file says), else ./fourscore-archive.
[[nodiscard]] std::filesystem::path archive_folder(const std::string& option, const std::string& of_machine);
/// The same with what the machine file of $FOURSCORE_MACHINE says. Throws InputError where that cannot be read.
[[nodiscard]] std::filesystem::path archive_folder(const std::string& option);

/// Cores this program may run on (affinity and cgroup as the kernel shows them); hyperthreads count once.
[[nodiscard]] int usable_cores();

}  // namespace fourscore
