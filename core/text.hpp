#pragma once
// Text that people and programs write: parts, numbers, plurals.

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace fourscore {

/// The parts between separators, empty ones too; an empty text is one empty part.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

/// Without blanks, tabs and line breaks at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// The number that the whole text is, as std::from_chars has it: no blanks, no +, no locale. Nothing for another text,
/// or a number that Number does not hold.
template <class Number, class... Format>
[[nodiscard]] std::optional<Number> number_from(std::string_view text, Format... base_or_format) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base_or_format...);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

/// As number_from(), of decimal digits, or of hexadecimal ones behind 0x: as Linux writes numbers.
template <class Number>
[[nodiscard]] std::optional<Number> number_of_either_base(std::string_view text) {
  return text.starts_with("0x") ? number_from<Number>(text.substr(2), 16) : number_from<Number>(text);
}

/// "1 rank", "2 ranks", "2 launches": a noun whose plural ends in s, or in es behind ch, sh, s and x.
template <class Count>
[[nodiscard]] std::string plural(Count count, std::string_view noun) {
  const bool hisses = noun.ends_with("ch") || noun.ends_with("sh") || noun.ends_with('s') || noun.ends_with('x');
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : hisses ? "es" : "s");
}

}  // namespace fourscore
