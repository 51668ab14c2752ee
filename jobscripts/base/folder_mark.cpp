#include "jobscripts/base/folder_mark.hpp"

#include <fmt/format.h>

#include <random>

#include "core/path_kind.hpp"
#include "core/regular_file.hpp"
#include "jobscripts/base/paths.hpp"
#include "results/archive.hpp"
#include "results/output_file.hpp"

namespace fourscore {

namespace fs = std::filesystem;

FolderMark leave_mark(const fs::path& folder) {
  std::random_device random;
  const std::string word = fmt::format("{:08x}{:08x}", random(), random());
  FolderMark mark{folder, folder / (".fourscore-mark-" + word), word};
  make_folder(folder);
  write_file(mark.file, word + '\n', Named::by_us);
  return mark;
}

FolderMark mark_where_possible(const fs::path& folder) {
  try {
    return leave_mark(folder);
  } catch (const std::runtime_error&) {
    return {folder, {}, {}};
  }
}

bool sees(const FolderMark& mark) {
  if (mark.word.empty()) return names_folder(mark.folder);
  return text_or_nothing(mark.file) == mark.word + '\n';
}

void remove_mark(const FolderMark& mark) {
  std::error_code ignored;
  if (!mark.file.empty()) fs::remove(mark.file, ignored);
}

}  // namespace fourscore
