#pragma once
// One butterfly between two ranks: what each makes of its own array and its partner's, with a phase factor for each
// index along one axis (Danielson and Lanczos 1942). No MPI here.

#include <cstddef>
#include <memory>

#include "core/box.hpp"
#include "core/problem.hpp"

namespace fourscore {

/// From own a, partner's b and phase factor w. The first two join the transforms of the even and of the odd elements to
/// the first and the second half of the whole one; the last two undo that, up to a factor of 2.
enum class Combination {
  even,        ///< a + w b
  odd,         ///< b - w a
  sum,         ///< a + b
  difference,  ///< w (b - a)
};

struct CombineSpec {
  Combination combination = Combination::even;
  Extents extents{1, 1, 1};  ///< extents of the local arrays, last axis fastest
  std::size_t axis = 0;
  Index first = 0;  ///< w = exp(-+ 2 pi i (first + m) / period) at local index m along the axis, - for forward
  Index period = 1;
  Direction direction = Direction::forward;
  Precision precision = Precision::double_precision;
};

class CombineStep {
 public:
  virtual ~CombineStep() = default;
  /// The result takes the place of `own`; the arrays do not overlap.
  virtual void run(void* own, const void* partner) const = 0;
  [[nodiscard]] virtual std::size_t table_bytes() const = 0;  ///< for phase factors
};

/// Computes the phase factors, each within two rounding errors of the precision.
[[nodiscard]] std::unique_ptr<CombineStep> make_combine_step(const CombineSpec& spec);

}  // namespace fourscore
