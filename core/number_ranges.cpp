#include "core/number_ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
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

}  // namespace fourscore
