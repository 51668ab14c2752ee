#pragma once
// The transform by its definition, axis after axis in long double: slow, and independent of what is tested.

#include <complex>
#include <numbers>
#include <vector>

#include "core/box.hpp"

namespace fourscore::test {

using Wide = std::complex<long double>;

/// Unnormalised transform of a dense array (last axis fastest) along one axis; sign is -1 for forward.
inline void naive_dft_axis(std::vector<Wide>& data, const Extents& shape, std::size_t axis, int sign) {
  const Index n = shape[axis];
  std::vector<Wide> roots(static_cast<std::size_t>(n));
  for (Index k = 0; k < n; ++k)
    roots[static_cast<std::size_t>(k)] = std::polar(
        1.0L, sign * 2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n));
  Index stride = 1;
  for (std::size_t a = axis + 1; a < 3; ++a) stride *= shape[a];
  const Index blocks = static_cast<Index>(data.size()) / (n * stride);
  std::vector<Wide> column(static_cast<std::size_t>(n));
  for (Index block = 0; block < blocks; ++block)
    for (Index offset = 0; offset < stride; ++offset) {
      const Index first = block * n * stride + offset;
      for (Index k = 0; k < n; ++k) {
        Wide sum = 0;
        for (Index j = 0; j < n; ++j)
          sum += data[static_cast<std::size_t>(first + j * stride)] * roots[static_cast<std::size_t>(j * k % n)];
        column[static_cast<std::size_t>(k)] = sum;
      }
      for (Index k = 0; k < n; ++k)
        data[static_cast<std::size_t>(first + k * stride)] = column[static_cast<std::size_t>(k)];
    }
}

inline void naive_dft(std::vector<Wide>& data, const Extents& shape, int sign) {
  for (std::size_t axis = 0; axis < 3; ++axis) naive_dft_axis(data, shape, axis, sign);
}

}  // namespace fourscore::test
