#pragma once
// The transform by its definition, axis after axis: slow, and independent of what is tested.

#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <vector>

#include "core/box.hpp"

namespace fourscore::test {

using Wide = std::complex<long double>;

/// The sum over j of line[j] roots[j k mod n], of n complex numbers each. Many tests spend most of their time here: so
/// in real numbers (a product of complex ones asks each time whether it is a NaN), and not sanitized.
template <class Real>
#ifdef __clang__
[[clang::no_sanitize("address", "undefined")]]
#endif
std::complex<Real>
naive_dft_sum(const std::complex<Real>* line, const std::complex<Real>* roots, std::size_t n, std::size_t k) {
  const auto* value = reinterpret_cast<const Real*>(line);
  const auto* const root = reinterpret_cast<const Real*>(roots);
  Real real = 0;
  Real imaginary = 0;
  for (std::size_t j = 0, m = 0; j < n; ++j, value += 2) {  // m is j k mod n
    const Real* const w = root + 2 * m;
    real += value[0] * w[0] - value[1] * w[1];
    imaginary += value[0] * w[1] + value[1] * w[0];
    m += k;
    if (m >= n) m -= n;
  }
  return {real, imaginary};
}

/// Unnormalised transform of a dense array (last axis fastest) along one axis; sign is -1 for forward.
template <class Real>
void naive_dft_axis(std::vector<std::complex<Real>>& data, const Extents& shape, std::size_t axis, int sign) {
  const auto n = static_cast<std::size_t>(shape[axis]);
  std::vector<std::complex<Real>> line(n);
  std::vector<std::complex<Real>> roots(n);
  for (std::size_t k = 0; k < n; ++k)
    roots[k] = std::polar(Real{1}, sign * 2 * std::numbers::pi_v<Real> * static_cast<Real>(k) / static_cast<Real>(n));
  std::size_t stride = 1;
  for (std::size_t a = axis + 1; a < 3; ++a) stride *= static_cast<std::size_t>(shape[a]);
  for (std::size_t block = 0; block < data.size(); block += n * stride)
    for (std::size_t first = block; first < block + stride; ++first) {
      for (std::size_t j = 0; j < n; ++j) line[j] = data[first + j * stride];
      for (std::size_t k = 0; k < n; ++k) data[first + k * stride] = naive_dft_sum(line.data(), roots.data(), n, k);
    }
}

/// From the last axis: in double precision the other order rounds several times worse where the last is long.
template <class Real>
void naive_dft(std::vector<std::complex<Real>>& data, const Extents& shape, int sign) {
  for (std::size_t axis = 3; axis-- > 0;) naive_dft_axis(data, shape, axis, sign);
}

}  // namespace fourscore::test
