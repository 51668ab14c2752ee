#pragma once
// The programs of drivers/components: which there are, where they are, what they say of themselves.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fourscore {

struct ComponentProgram {
  std::string name;
  std::filesystem::path file;  ///< empty when it is not here ...
  std::string missing;         ///< ... and then why, and what to do about it
};

/// All that this version has, sorted by name, each looked for in $FOURSCORE_COMPONENTS, else beside this program, else
/// in libexec.
[[nodiscard]] std::vector<ComponentProgram> component_programs();

/// The one of that name. Throws InputError with the nearest name for one that no version has.
[[nodiscard]] ComponentProgram component_program(const std::string& name);

/// For lists: each program's own card (`--list`: name, summary, needs_mpi, parameters, available, reason), or that it
/// is not here.
[[nodiscard]] nlohmann::json component_cards();

}  // namespace fourscore
