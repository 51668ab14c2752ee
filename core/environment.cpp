#include "core/environment.hpp"

#include <unistd.h>

#include <cstdlib>

#include "core/path_kind.hpp"
#include "core/text.hpp"

namespace fourscore {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<fs::path> path_folders() {
  std::vector<fs::path> folders;
  for (const std::string& folder : split(environment("PATH"), ':'))
    if (!folder.empty()) folders.emplace_back(folder);
  return folders;
}

bool is_program(const fs::path& file) { return names_file(file) && ::access(file.c_str(), X_OK) == 0; }

fs::path find_program(std::string_view name, const std::vector<fs::path>& others) {
  for (const auto& folders : {path_folders(), others})
    for (const fs::path& folder : folders)
      if (is_program(folder / name)) return folder / name;
  return {};
}

}  // namespace fourscore
