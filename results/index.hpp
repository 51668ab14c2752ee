#pragma once
// The SQLite index beside the records: a cache of what is in them, which can be lost and rebuilt at any time.

#include <cstddef>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "results/archive.hpp"

namespace fourscore {

struct IndexError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Adds records to the index, which is made when missing. Throws IndexError; the records are safe all the same.
void add_to_index(const Archive& archive, const std::vector<std::filesystem::path>& files);

struct ReindexResult {
  std::size_t records = 0;
  std::vector<std::pair<std::string, std::string>> unreadable;  ///< file, reason
  double seconds = 0;
};
/// Builds the index anew from the records, beside the old one, and puts it in its place. Throws IndexError.
ReindexResult reindex(const Archive& archive);

/// A record file as summaries want it.
struct RecordEntry {
  std::string file;    ///< relative to the archive
  std::string reason;  ///< why it is unreadable; then nothing else is there
  std::string status;
  std::string brief;  ///< record_brief() as text
};

/// All record files of a campaign, sorted by name. Whatever the index holds of a file is used where the file's size,
/// inode, mtime and ctime are those of the file that was read for it and the row's digest is right; every other file is
/// read, and goes into the index if that can be written at once. A stale, lost or damaged index costs time, no more.
[[nodiscard]] std::vector<RecordEntry> record_entries(const Archive& archive, const std::string& campaign);

/// Reads every record for which the index has no brief, and adds it if the index can be written at once. Whether a
/// brief is of the file as it is now is left to who reads it. A damaged index, or one of another version, stays as it
/// is.
void complete_index(const Archive& archive);

/// Record files of a campaign that the index has ever had, since it was last built. Those that are gone were lost.
[[nodiscard]] std::set<std::string> indexed_files(const Archive& archive, const std::string& campaign);

}  // namespace fourscore
