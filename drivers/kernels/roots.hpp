#pragma once
// Roots of unity of large orders from short tables, and products with them along arrays. No MPI here.

#include <complex>
#include <cstddef>
#include <vector>

#include "core/box.hpp"
#include "core/problem.hpp"

namespace fourscore {

/// exp(-2 pi i e / n), conjugated for backward transforms, as the product of an entry of each of two tables of about
/// sqrt(n) entries: sqrt(n) sines instead of n, and within two rounding errors of a double.
class Roots {
 public:
  Roots(Index order, Direction direction);
  /// The power of exponent a * b, both at least 0; the product may exceed 64 bits.
  [[nodiscard]] std::complex<double> power(Index a, Index b = 1) const;

 private:
  Index order_;
  unsigned shift_ = 0;  ///< the fine table has 2^shift entries
  std::vector<std::complex<double>> coarse_;
  std::vector<std::complex<double>> fine_;
};

namespace kernels {

/// a * b without the recovery from NaN of operator*, which no vectoriser gets through.
template <class Real>
inline std::complex<Real> product(std::complex<Real> a, std::complex<Real> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// x[i] *= f[i]
template <class Real>
inline void multiply(std::complex<Real>* __restrict x, const std::complex<Real>* __restrict f, Index n) {
  for (Index i = 0; i < n; ++i) x[i] = product(x[i], f[i]);
}

/// x[i] *= scale * f[i]
template <class Real>
inline void multiply(std::complex<Real>* __restrict x, const std::complex<Real>* __restrict f, std::complex<Real> scale,
                     Index n) {
  for (Index i = 0; i < n; ++i) x[i] = product(x[i], product(scale, f[i]));
}

/// to[i] = from[i] * f[i] * g[i]
template <class Real>
inline void multiply_into(std::complex<Real>* __restrict to, const std::complex<Real>* __restrict from,
                          const std::complex<Real>* __restrict f, const std::complex<Real>* __restrict g, Index n) {
  for (Index i = 0; i < n; ++i) to[i] = product(from[i], product(f[i], g[i]));
}

/// own[i] = a * own[i] + b * other[i]: either output of a butterfly.
template <class Real>
inline void butterfly(std::complex<Real>* __restrict own, const std::complex<Real>* __restrict other,
                      std::complex<Real> a, std::complex<Real> b, Index n) {
  for (Index i = 0; i < n; ++i) own[i] = product(a, own[i]) + product(b, other[i]);
}

}  // namespace kernels

/// The factors root^(k j) along a line, j = 0, 1 ... length - 1.
template <class Real>
class RootLine {
 public:
  /// whole: a table of all factors, else two of about sqrt(length) entries, whose products are formed in multiply().
  RootLine(const Roots& roots, Index k, Index length, bool whole);
  /// data[0] stands at place `low` of the line.
  void multiply(std::complex<Real>* data, Index low, Index high) const;
  [[nodiscard]] std::size_t bytes() const { return (fine_.size() + coarse_.size()) * sizeof(std::complex<Real>); }

 private:
  Index block_;                             ///< entries of the fine table
  std::vector<std::complex<Real>> fine_;    ///< root^(k j), j < block
  std::vector<std::complex<Real>> coarse_;  ///< root^(k block i)
};

extern template class RootLine<double>;
extern template class RootLine<float>;

}  // namespace fourscore
