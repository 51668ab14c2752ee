#pragma once
// Reading whole files that others may have put there.

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace fourscore {

/// A file cannot be read, or is none: a folder, FIFO, socket, device, or a link to nothing. The message is the reason
/// alone, without the name.
struct UnreadableFile : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Whether something of this name is seen, were it a link to nothing. Throws nothing.
[[nodiscard]] bool is_there(const std::filesystem::path& path);

/// What tells one content of a file from another without reading it.
struct FileStamp {
  std::uint64_t bytes = 0;
  std::uint64_t inode = 0;
  std::int64_t modified_ns = 0;  ///< mtime
  std::int64_t changed_ns = 0;   ///< ctime, which nobody can set back
  bool operator==(const FileStamp&) const = default;
};

/// The stamp of a regular file, links followed. Throws UnreadableFile.
[[nodiscard]] FileStamp stamp_of(const std::filesystem::path& file);

/// Far beyond any record (a long timeline makes one of some 10 MB): a sparse file of terabytes is not read into memory.
constexpr std::uint64_t largest_file_bytes = std::uint64_t{1} << 28U;

struct FileContent {
  std::string text;
  FileStamp stamp;  ///< taken before the text was read
};
/// Never waits for a FIFO's writer. Throws UnreadableFile, also for more than `largest_bytes`, whatever size the file
/// says to have.
[[nodiscard]] FileContent read_regular_file(const std::filesystem::path& file,
                                            std::uint64_t largest_bytes = largest_file_bytes);
/// The text of a regular file; empty where it cannot be read.
[[nodiscard]] std::string text_or_nothing(const std::filesystem::path& file);

}  // namespace fourscore
