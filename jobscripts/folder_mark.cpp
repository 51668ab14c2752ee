#include "jobscripts/folder_mark.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <random>

#include "core/path_kind.hpp"
#include "jobscripts/paths.hpp"

namespace fourscore {

namespace fs = std::filesystem;

FolderMark leave_mark(const fs::path& folder) {
  std::random_device random;
  const std::string word = fmt::format("{:08x}{:08x}", random(), random());
  FolderMark mark{folder, folder / (".fourscore-mark-" + word), word};
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw EnvironmentError(fmt::format("cannot make the folder {}: {}", folder.string(), error.message()));
  std::ofstream file(mark.file);
  file << word << '\n' << std::flush;
  if (!file) throw EnvironmentError(fmt::format("cannot write {}: {}", mark.file.string(), std::strerror(errno)));
  return mark;
}

FolderMark mark_where_possible(const fs::path& folder) {
  try {
    return leave_mark(folder);
  } catch (const EnvironmentError&) {
    return {folder, {}, {}};
  }
}

bool sees(const FolderMark& mark) {
  if (mark.word.empty()) return names_folder(mark.folder);
  std::ifstream file(mark.file);
  std::string word;
  return std::getline(file, word) && word == mark.word;
}

void remove_mark(const FolderMark& mark) {
  std::error_code ignored;
  if (!mark.file.empty()) fs::remove(mark.file, ignored);
}

}  // namespace fourscore
