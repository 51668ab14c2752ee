#pragma once
// Which archive a command means.

#include <filesystem>
#include <string>

namespace fourscore {

/// --archive, else $FOURSCORE_ARCHIVE, else `of_machine` (what a machine file says), else ./fourscore-archive.
[[nodiscard]] std::filesystem::path archive_folder(const std::string& option, const std::string& of_machine);
/// The same with what the machine file of $FOURSCORE_MACHINE says. Throws InputError where that cannot be read.
[[nodiscard]] std::filesystem::path archive_folder(const std::string& option);
/// Without --archive, where `machine` is --machine, and empty without one. Throws InputError likewise.
[[nodiscard]] std::filesystem::path default_archive(const std::string& machine);

}  // namespace fourscore
