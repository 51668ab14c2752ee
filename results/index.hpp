#pragma once
// The SQLite index beside the records: a cache of one row a record, which can be lost and rebuilt at any time.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "results/archive.hpp"

namespace fourscore {

struct IndexError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using IndexValue = std::variant<std::monostate, std::int64_t, double, std::string>;
using IndexRow = std::vector<IndexValue>;  ///< in the order of index_columns()

[[nodiscard]] const std::vector<std::string>& index_columns();
/// The row of a record; `name` is its file relative to the archive. Throws UnreadableRecord when the record lacks what
/// every record has.
[[nodiscard]] IndexRow index_row(const nlohmann::json& record, const std::string& name);

/// Adds records to the index, which is made when missing. Throws IndexError; the records are safe all the same.
void add_to_index(const Archive& archive, const std::vector<std::filesystem::path>& files);

struct ReindexResult {
  std::size_t records = 0;
  std::vector<std::pair<std::string, std::string>> unreadable;  ///< file, reason
  double seconds = 0;
};
/// Builds the index anew from the records, beside the old one, and puts it in its place. Throws IndexError.
ReindexResult reindex(const Archive& archive);

/// All rows of both tables as text, sorted by file: equal for equal content. Throws IndexError.
[[nodiscard]] std::string dump_index(const Archive& archive);

}  // namespace fourscore
