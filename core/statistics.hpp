#pragma once
// The few numbers that tables show of samples. Everything else belongs to the analysis.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace fourscore {

/// The median of at least one value; the mean of the two middle ones when even.
[[nodiscard]] inline double median(std::vector<double> values) {
  const std::size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle), values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  return 0.5 * (upper + *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle)));
}

}  // namespace fourscore
