#pragma once
// An archive as one file, and back: a tar of what travels (results/portable_files.hpp), compressed by the file's
// ending. Its first entry, archive/manifest.json, has the bytes and the SHA-256 of each of the others.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "results/archive.hpp"

namespace fourscore {

/// Nothing where packs can be made and read, or why this build cannot.
[[nodiscard]] std::string packs_unavailable();

struct Pack {
  std::size_t files = 0;
  std::size_t records = 0;
  std::uint64_t bytes = 0;  ///< all files together
};

/// Writes the file, whole or not at all; the same bytes for the same archive. `file` ends in .tar.zst, .tar.gz, .tgz or
/// .tar. Throws InputError for another ending and for what OutputFile refuses; ArchiveError where reading or writing
/// fails.
[[nodiscard]] Pack pack_archive(const Archive& archive, const std::filesystem::path& file);

/// Makes the folder `target`, whole or not at all; it must not exist, or be empty. Nothing outside it is written.
/// Throws InputError for a file that is no pack, lacks what its manifest lists, has another content than that says, or
/// holds anything else than regular files of an archive; ArchiveError where reading or writing fails.
[[nodiscard]] Pack unpack_archive(const std::filesystem::path& file, const Archive& target);

}  // namespace fourscore
