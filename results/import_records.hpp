#pragma once
// Records that fft_bench or a component program wrote outside a campaign, taken into an archive.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "results/archive.hpp"

namespace fourscore {

struct ImportResult {
  std::string campaign;
  std::vector<std::pair<std::filesystem::path, std::filesystem::path>> imported;  ///< from, to
  std::vector<std::filesystem::path> already_there;                               ///< whose record_id the campaign has
};

/// Copies the records into the campaign, which is made when missing: each with a "campaign" object that says where it
/// stands and what file it was, with the flags that follow from its content beside those that it has, and else
/// unchanged. Nobody can tell from a file who wrote it: where `vouched` is false, by which the user says that programs
/// of fourscore's harness did, the records are flagged foreign. A point's records are its launches, in the order of
/// `files`, behind those that are there. With an empty name the campaign is imported-<8 hex digits> of the records'
/// machine and program, so that those of two machines or two builds are not one campaign; all records must then be of
/// one.
///
/// All files are looked at first: when one cannot be used nothing is written. Throws InputError naming each such file
/// with the reason, or why the campaign takes no records; ArchiveError and RecordFileError.
[[nodiscard]] ImportResult import_records(const Archive& archive, const std::vector<std::filesystem::path>& files,
                                          const std::string& campaign, bool vouched);

}  // namespace fourscore
