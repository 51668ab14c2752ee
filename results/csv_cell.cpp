#include "results/csv_cell.hpp"

#include <charconv>
#include <string_view>
#include <system_error>

namespace fourscore {
namespace {

bool is_number(const std::string& text) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data() + (text.front() == '+' ? 1 : 0), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
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
