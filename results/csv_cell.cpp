#include "results/csv_cell.hpp"

#include <string_view>

#include "core/text.hpp"

namespace fourscore {
namespace {

bool is_number(std::string_view text) {
  return number_from<double>(text.starts_with('+') ? text.substr(1) : text).has_value();
}

/// A spreadsheet takes a cell that begins so for a formula, and runs it. An apostrophe before it makes it text.
std::string defused(const std::string& text) {
  if (text.empty() || std::string_view("=+-@\t\r").find(text.front()) == std::string_view::npos || is_number(text))
    return text;
  return "'" + text;
}

}  // namespace

std::string csv_cell(const std::string& value) {
  const std::string text = defused(value);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + "\"";
}

}  // namespace fourscore
