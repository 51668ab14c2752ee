#pragma once
// What the index keeps of a record.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace fourscore {

using IndexValue = std::variant<std::monostate, std::int64_t, double, std::string>;
using IndexRow = std::vector<IndexValue>;  ///< in the order of index_columns()

[[nodiscard]] const std::vector<std::string>& index_columns();
/// Names and SQL types of the columns but the first, which is the file.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> index_column_types();
/// The row of a record; `name` is its file relative to the archive.
[[nodiscard]] IndexRow index_row(const nlohmann::json& record, const std::string& name);

/// The part of a record that summaries and histories are made of, under the same keys: without what is kept for each
/// rank, the timeline and counters, and of the provenance only hashes, revision and start.
[[nodiscard]] nlohmann::json record_brief(const nlohmann::json& record);

}  // namespace fourscore
