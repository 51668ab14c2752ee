#pragma once
// The transform by its definition, axis after axis: slow, and independent of what is tested. For double and long
// double.

#include <complex>
#include <cstddef>
#include <vector>

#include "core/box.hpp"

namespace fourscore::test {

using Wide = std::complex<long double>;

/// The sum over j of line[j] roots[j k mod n], of n complex numbers each.
template <class Real>
std::complex<Real> naive_dft_sum(const std::complex<Real>* line, const std::complex<Real>* roots, std::size_t n,
                                 std::size_t k);

/// Unnormalised transform of a dense array (last axis fastest) along one axis; sign is -1 for forward.
template <class Real>
void naive_dft_axis(std::vector<std::complex<Real>>& data, const Extents& shape, std::size_t axis, int sign);

/// From the last axis: in double precision the other order rounds several times worse where the last is long.
template <class Real>
void naive_dft(std::vector<std::complex<Real>>& data, const Extents& shape, int sign) {
  for (std::size_t axis = 3; axis-- > 0;) naive_dft_axis(data, shape, axis, sign);
}

}  // namespace fourscore::test
