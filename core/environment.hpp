#pragma once
// What the environment of this process says, and the programs that it finds.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace fourscore {

/// The value of a variable; empty where it is not set.
[[nodiscard]] std::string environment(const char* name);

/// The folders of PATH. Its empty entries, which mean the current folder, are left out.
[[nodiscard]] std::vector<std::filesystem::path> path_folders();

/// Whether it is a file that this user may run.
[[nodiscard]] bool is_program(const std::filesystem::path& file);

/// The first program of that name in PATH, then in `others`; empty where there is none.
[[nodiscard]] std::filesystem::path find_program(std::string_view name,
                                                 const std::vector<std::filesystem::path>& others = {});

}  // namespace fourscore
