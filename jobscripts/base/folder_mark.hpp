#pragma once
// Whether two machines see one folder: a file that one writes and the other looks for.

#include <filesystem>
#include <string>

namespace fourscore {

/// A file with a word that nobody else knows. A folder of the same name on another disk does not hold it.
struct FolderMark {
  std::filesystem::path folder;
  std::filesystem::path file;
  std::string word;  ///< empty: the folder cannot be written, and only looked for
};

/// Writes the file into the folder, which it makes where it is not there. Throws ArchiveError, OutputFailed.
[[nodiscard]] FolderMark leave_mark(const std::filesystem::path& folder);

/// The same for a folder that is there and may be one to read only.
[[nodiscard]] FolderMark mark_where_possible(const std::filesystem::path& folder);

/// Whether this process reads the mark.
[[nodiscard]] bool sees(const FolderMark& mark);

void remove_mark(const FolderMark& mark);

}  // namespace fourscore
