#pragma once
// Machine files: where they are found, and what they say.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "jobscripts/base/machine.hpp"

namespace fourscore {

/// Throws InputError with file, line and key for what is no machine file: an unknown key with the nearest name, a
/// launcher or scheduler that does not exist, a launch line without {ranks}, a path with a variable of the environment
/// that is not set.
[[nodiscard]] Machine read_machine(const std::filesystem::path& file);

/// The seconds of "[D-]HH:MM:SS"; nothing for any other text.
[[nodiscard]] std::optional<double> seconds_of(const std::string& text);

/// A path, or a name found among the machine files: of $FOURSCORE_MACHINES, else of ~/.config/fourscore/machines, then
/// those that came with fourscore. Throws InputError with the nearest name, and as read_machine().
[[nodiscard]] Machine find_machine(const std::string& name);

/// All machine files of these folders, sorted by name; of two with one name the first folder's.
[[nodiscard]] std::vector<std::filesystem::path> all_machines();

}  // namespace fourscore
