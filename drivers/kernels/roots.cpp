#include "kernels/roots.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fourscore {

namespace {

Index product_modulo(Index a, Index b, Index n) {
  __extension__ using Wide = __int128;
  return static_cast<Index>(static_cast<Wide>(a) * b % n);
}

std::complex<double> root(Index exponent, Index order, Direction direction) {
  const long double angle =
      2 * std::numbers::pi_v<long double> * static_cast<long double>(exponent) / static_cast<long double>(order);
  const auto sine = static_cast<double>(std::sin(angle));
  return {static_cast<double>(std::cos(angle)), direction == Direction::forward ? -sine : sine};
}

/// The power of two nearest above the square root of `length`, from one that vectors fill to one that level 1 holds.
Index fine_entries(Index length) {
  Index block = 64;
  while (block < 1024 && block * block < length) block *= 2;
  return block;
}

}  // namespace

Roots::Roots(Index order, Direction direction) : order_(order) {
  while ((Index{1} << (2 * shift_)) < order) ++shift_;
  const Index block = Index{1} << shift_;
  for (Index i = 0; i < order; i += block) coarse_.push_back(root(i, order, direction));
  for (Index i = 0; i < block; ++i) fine_.push_back(root(i, order, direction));
}

std::complex<double> Roots::power(Index a, Index b) const {
  const Index exponent = product_modulo(a, b, order_);
  return kernels::product(coarse_[static_cast<std::size_t>(exponent >> shift_)],
                          fine_[static_cast<std::size_t>(exponent & ((Index{1} << shift_) - 1))]);
}

template <class Real>
RootLine<Real>::RootLine(const Roots& roots, Index k, Index length, bool whole)
    : block_(whole ? length : fine_entries(length)) {
  for (Index j = 0; j < std::min(block_, length); ++j) fine_.emplace_back(roots.power(k, j));
  for (Index j = 0; j < length; j += block_) coarse_.emplace_back(roots.power(k, j));
}

template <class Real>
void RootLine<Real>::multiply(std::complex<Real>* data, Index low, Index high) const {
  for (Index j = low; j < high;) {
    const Index block = j / block_;
    const Index end = std::min(high, (block + 1) * block_);
    const std::complex<Real>* factors = fine_.data() + (j - block * block_);
    if (block == 0)
      kernels::multiply(data + (j - low), factors, end - j);
    else
      kernels::multiply(data + (j - low), factors, coarse_[static_cast<std::size_t>(block)], end - j);
    j = end;
  }
}

template class RootLine<double>;
template class RootLine<float>;

}  // namespace fourscore
