#pragma once
// Between double and single precision. No MPI here.

#include <span>

namespace fourscore {

/// Rounds to nearest: the relative error of a number is at most half the machine epsilon of single precision, for
/// numbers within its range. The two arrays do not overlap; `to` has as many elements.
void narrow(std::span<const double> from, float* to);
/// Exact. As narrow().
void widen(std::span<const float> from, double* to);

}  // namespace fourscore
