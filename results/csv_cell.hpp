#pragma once
// A text as a cell of a CSV file.

#include <string>

namespace fourscore {

/// Quoted as RFC 4180 where it must be. Text that a spreadsheet would take for a formula gets an apostrophe before it.
[[nodiscard]] std::string csv_cell(const std::string& value);

}  // namespace fourscore
