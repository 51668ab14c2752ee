#pragma once
// Per-rank values of many ranks: a NumPy file of one row a rank beside the record, which keeps a summary of each column
// (results/README.md, "Many ranks").

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace fourscore {

/// Records of more ranks than these keep their per-rank arrays in a file of columns.
inline constexpr std::size_t max_ranks_inline = 64;
inline constexpr std::string_view columns_suffix = ".ranks.npy";

/// Moves the per-rank arrays of a record of more than max_ranks_inline ranks out of it, into the content of a NumPy
/// file (format 1.0, a structured array; a column is named by the JSON pointer of its array), and adds "rank_columns"
/// to the record: the file's name <record_id>.ranks.npy, its hash, and each column's shape, extremes, quartiles and
/// largest ranks. Empty, and nothing changed, for fewer ranks. Throws std::invalid_argument for an array of another
/// length than the ranks, or of ranks with different numbers of values.
[[nodiscard]] std::string take_rank_columns(nlohmann::json& record);

/// Puts the arrays back where they were and removes "rank_columns". Throws std::runtime_error, whose message is the
/// reason alone, when `content` is not the file that the record names.
void give_rank_columns(nlohmann::json& record, std::string_view content);

/// The same with the file in the record's folder; nothing for a record without columns. Throws std::runtime_error.
void read_rank_columns(nlohmann::json& record, const std::filesystem::path& folder);

}  // namespace fourscore
