#include "harness/system_files.hpp"

#include <fstream>

namespace fourscore {

namespace fs = std::filesystem;

std::optional<std::string> first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line) || line.empty()) return std::nullopt;
  return line;
}

std::vector<std::string> values_of(const fs::path& path, std::string_view key) {
  std::ifstream file(path);
  std::vector<std::string> values;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    if (begin != std::string::npos) values.push_back(line.substr(begin));
  }
  return values;
}

}  // namespace fourscore
