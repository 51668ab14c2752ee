#pragma once
// How `tiled` transforms one line: its stages of butterflies, their twiddles, and where each output lies.

#include <cstddef>
#include <vector>

#include "core/box.hpp"
#include "interfaces/local_fft.hpp"

namespace fourscore::local::tiled {

/// One stage of decimation in frequency: blocks of `length` rows become `radix` blocks each.
template <class Real>
struct Stage {
  Index radix = 1;
  Index length = 1;
  /// exp(-2 pi i j k / length), real and imaginary part in turn, j < length / radix, 1 <= k < radix.
  std::vector<Real> twiddles{};
  [[nodiscard]] Index span() const { return length / radix; }
};

/// A transform of `length` elements in two or more stages. The first reads the data and the last writes it, so each may
/// have any strides; between them the rows lie in a scratch.
template <class Real>
struct LinePlan {
  Index length = 1;
  bool backward = false;
  std::vector<Stage<Real>> stages{};
  /// The block of the last stage whose first output is row o, o < length / last radix.
  std::vector<Index> block_of_row{};
  /// For 2 length reals, whose pairs are the complex elements: exp(-2 pi i q / (2 length)), q <= length, half of it
  /// forward; backward its conjugate.
  std::vector<Real> turns_of_halves{};

  [[nodiscard]] bool is_real() const { return !turns_of_halves.empty(); }
  [[nodiscard]] Index most_elements() const { return is_real() ? length + 1 : length; }
  [[nodiscard]] Index elements_in() const { return backward ? most_elements() : length; }
  [[nodiscard]] Index elements_out() const { return backward ? length : most_elements(); }
};

/// The first stage of a contiguous line with neighbouring elements of it in the lanes: `radix` lines are left, side by
/// side, to be transformed by a LinePlan of that many times fewer elements.
template <class Real>
struct LaneStage {
  Index radix = 1;
  /// For each vector of elements that are neighbours, and 1 <= k < radix: real parts, then imaginary parts.
  std::vector<Real> twiddles{};
};

/// Which of a vector's elements its lane has, where the kernels separate real and imaginary parts.
template <class Real>
[[nodiscard]] constexpr Index element_of_lane(Index lane, Index lanes) {
  if constexpr (sizeof(Real) == sizeof(double)) return lane % 2 * (lanes / 2) + lane / 2;
  return lane / 4 * 2 + lane % 2 + lane / 2 % 2 * (lanes / 2);
}

/// The radices of the stages, first to last, at least `fewest` of them, 1 or 2, and none above `largest`, 8 or 16;
/// empty for a length that has other factors than 2, 3, 5 and 7, or is not from 2 to most_length.
[[nodiscard]] std::vector<Index> radices_of(Index length, Index largest = 8, int fewest = 2);
/// A tile of such a line still fits the second-level cache.
inline constexpr Index most_length = 8192;

/// radices_of(length, largest, fewest) is not empty.
template <class Real>
[[nodiscard]] LinePlan<Real> line_plan(Index length, Index largest, Direction direction, int fewest = 2);
/// For lines of radix * rest elements; the radix is so many times `lanes`, and `rest` is not less.
template <class Real>
[[nodiscard]] LaneStage<Real> lane_stage(Index radix, Index rest, Index lanes, Direction direction);
/// A plan for `reals`, an even number, as half as many complex elements, for which radices_of() is not empty.
template <class Real>
[[nodiscard]] LinePlan<Real> real_line_plan(Index reals, Index largest, Direction direction);

extern template LinePlan<double> line_plan(Index length, Index largest, Direction direction, int fewest);
extern template LinePlan<float> line_plan(Index length, Index largest, Direction direction, int fewest);
extern template LaneStage<double> lane_stage(Index radix, Index rest, Index lanes, Direction direction);
extern template LaneStage<float> lane_stage(Index radix, Index rest, Index lanes, Direction direction);
extern template LinePlan<double> real_line_plan(Index reals, Index largest, Direction direction);
extern template LinePlan<float> real_line_plan(Index reals, Index largest, Direction direction);

}  // namespace fourscore::local::tiled
