#include "kernels/narrowing.hpp"

#include <algorithm>

namespace fourscore {

void narrow(std::span<const double> from, float* to) {
  std::transform(from.begin(), from.end(), to, [](double value) { return static_cast<float>(value); });
}

void widen(std::span<const float> from, double* to) { std::copy(from.begin(), from.end(), to); }

}  // namespace fourscore
