#pragma once
// What a path names, where a name that is too long or a link to itself is as good as none: std::filesystem throws then.

#include <filesystem>
#include <system_error>

namespace fourscore {

[[nodiscard]] inline bool names_file(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}
[[nodiscard]] inline bool names_folder(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}
[[nodiscard]] inline bool names_something(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

}  // namespace fourscore
