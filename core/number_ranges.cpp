#include "core/number_ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <functional>
#include <stdexcept>

namespace fourscore {

std::string number_ranges(std::span<const int> ascending) {
  if (std::ranges::adjacent_find(ascending, std::ranges::greater_equal{}) != ascending.end())
    throw std::invalid_argument("number_ranges: the numbers do not ascend");
  std::string text;
  for (std::size_t i = 0; i < ascending.size();) {
    // The longest stretch of one step from here; two numbers of another step than 1 are no stretch.
    std::size_t last = i;
    const int step = i + 1 < ascending.size() ? ascending[i + 1] - ascending[i] : 1;
    while (last + 1 < ascending.size() && ascending[last + 1] - ascending[last] == step) ++last;
    if (step != 1 && last - i < 2) last = i;
    if (!text.empty()) text += ',';
    text += fmt::to_string(ascending[i]);
    if (last > i) text += fmt::format("-{}", ascending[last]);
    if (last > i && step != 1) text += fmt::format("/{}", step);
    i = last + 1;
  }
  return text;
}

std::optional<std::vector<int>> numbers_of_ranges(std::string_view text, std::size_t most) {
  std::vector<int> numbers;
  const auto read = [&text](int& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
  };
  const auto take = [&text](char c) {
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
    return true;
  };
  while (!text.empty()) {
    if (!numbers.empty() && !take(',')) return std::nullopt;
    int first = 0;
    if (!read(first)) return std::nullopt;
    int last = first;
    int step = 1;
    if (take('-') && !read(last)) return std::nullopt;
    if (take('/') && !read(step)) return std::nullopt;
    if (step < 1 || last < first || numbers.size() + static_cast<std::size_t>((last - first) / step) >= most)
      return std::nullopt;
    for (std::int64_t number = first; number <= last; number += step) numbers.push_back(static_cast<int>(number));
  }
  return numbers;
}

}  // namespace fourscore
