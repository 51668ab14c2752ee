// Many tests spend most of their time here: so optimised (tests/CMakeLists.txt), in real numbers (a product of complex
// ones asks each time whether it is a NaN), and not sanitized.

#include "support/naive_dft.hpp"

#include <cmath>
#include <numbers>

#ifdef __clang__
#define FOURSCORE_NOT_SANITIZED [[clang::no_sanitize("address", "undefined")]]
#else
#define FOURSCORE_NOT_SANITIZED
#endif

namespace fourscore::test {

template <class Real>
FOURSCORE_NOT_SANITIZED std::complex<Real> naive_dft_sum(const std::complex<Real>* line,
                                                         const std::complex<Real>* roots, std::size_t n,
                                                         std::size_t k) {
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

/// naive_dft_sum() for k and for n - k, whose roots are conjugate: of the same products, in half the time.
template <class Real>
FOURSCORE_NOT_SANITIZED void naive_dft_sums(const std::complex<Real>* line, const std::complex<Real>* roots,
                                            std::size_t n, std::size_t k, std::complex<Real>& at_k,
                                            std::complex<Real>& at_n_minus_k) {
  const auto* value = reinterpret_cast<const Real*>(line);
  const auto* const root = reinterpret_cast<const Real*>(roots);
  Real real_cos = 0;
  Real real_sin = 0;
  Real imaginary_cos = 0;
  Real imaginary_sin = 0;
  for (std::size_t j = 0, m = 0; j < n; ++j, value += 2) {
    const Real* const w = root + 2 * m;
    real_cos += value[0] * w[0];
    real_sin += value[0] * w[1];
    imaginary_cos += value[1] * w[0];
    imaginary_sin += value[1] * w[1];
    m += k;
    if (m >= n) m -= n;
  }
  at_k = {real_cos - imaginary_sin, real_sin + imaginary_cos};
  at_n_minus_k = {real_cos + imaginary_sin, imaginary_cos - real_sin};
}

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
      const auto result = [&](std::size_t k) -> std::complex<Real>& { return data[first + k * stride]; };
      result(0) = naive_dft_sum(line.data(), roots.data(), n, 0);
      for (std::size_t k = 1; 2 * k < n; ++k) naive_dft_sums(line.data(), roots.data(), n, k, result(k), result(n - k));
      if (n % 2 == 0) result(n / 2) = naive_dft_sum(line.data(), roots.data(), n, n / 2);
    }
}

using Narrow = std::complex<double>;
template Narrow naive_dft_sum(const Narrow* line, const Narrow* roots, std::size_t n, std::size_t k);
template Wide naive_dft_sum(const Wide* line, const Wide* roots, std::size_t n, std::size_t k);
template void naive_dft_axis(std::vector<Narrow>& data, const Extents& shape, std::size_t axis, int sign);
template void naive_dft_axis(std::vector<Wide>& data, const Extents& shape, std::size_t axis, int sign);

}  // namespace fourscore::test
