#pragma once
// Several archives made one: what two people or two machines measured, side by side.

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "results/archive.hpp"

namespace fourscore {

/// One archive that went into another.
struct Origin {
  std::string name;  ///< its folder's
  std::size_t records = 0;
  std::vector<std::string> campaigns;
  std::string sha256;  ///< over the lines "name digest" of its record files, sorted
};

struct MergeResult {
  struct Source {
    std::filesystem::path root;
    std::size_t records = 0;
    std::size_t copied = 0;  ///< the others were there
  };
  std::vector<Source> sources;
  std::vector<std::string> kept;  ///< files of role `latest` of which a later archive has another one
};

/// Copies what travels (results/portable_files.hpp) of the sources into `target`, which is made when missing, byte for
/// byte: records keep their ids and their places. What is there already stays, so that a merge that was cut off goes on
/// when it is called again. origins.json of the target says which archives it holds.
///
/// All files are looked at first; nothing is written where a record cannot be read or its digest is wrong, where one
/// record_id or one name has two contents, or where one record_id stands in two places. Throws InputError naming each;
/// ArchiveError where reading or writing fails.
[[nodiscard]] MergeResult merge_archives(const std::vector<Archive>& sources, const Archive& target);

/// What origins.json says; empty where there is none. Throws InputError where it cannot be read.
[[nodiscard]] std::vector<Origin> origins_of(const Archive& archive);

}  // namespace fourscore
