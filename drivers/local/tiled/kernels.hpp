#pragma once
// The arithmetic of `tiled`, compiled for several instruction sets; the processor's best is taken when it runs.

#include <cstddef>
#include <string>
#include <vector>

#include "local/tiled/line_plan.hpp"

namespace fourscore::local::tiled {

/// Rows low <= row < high of the input of adjacent lines, `stride` complex elements apart.
template <class Real>
struct Rows {
  Index low, high;
  const Real* data;
  Index stride;
};

/// Equal lines side by side, of real data each contiguous. Strides in complex elements; in place where both sides have
/// the same.
template <class Real>
struct Lines {
  const LinePlan<Real>* plan = nullptr;
  Loop along{};
  Loop beside{};    ///< count: how many lines
  Index width = 1;  ///< so many vectors of lines are loaded from a row, where lines are adjacent
  std::byte* scratch = nullptr;
  const Rows<Real>* parts = nullptr;  ///< not null: of the input, all in order; the lines are adjacent
  const LaneStage<Real>* in_lanes =
      nullptr;              ///< not null: the first stage, of contiguous lines; the plan is of the rest
  bool fetch_next = false;  ///< while a tile of adjacent lines is read the next one is fetched
  bool streaming = false;   ///< whole vectors of adjacent lines are stored past the caches, where they are aligned
};

/// Transforms them all. Nothing need be aligned but the scratch, to 64 bytes.
template <class Real>
void transform(const Lines<Real>& lines, const Real* in, Real* out);
template <>
void transform(const Lines<double>& lines, const double* in, double* out);
template <>
void transform(const Lines<float>& lines, const float* in, float* out);

/// What the instruction set taken has.
[[nodiscard]] Index vector_bytes();
[[nodiscard]] Index largest_radix();  ///< 8, or 16
[[nodiscard]] std::string instruction_set();

/// The instruction sets that this program has and this processor runs, best first.
[[nodiscard]] std::vector<std::string> instruction_sets();
/// For tests: has one of them taken, where the program has several; without a name the best again. Not for passes that
/// were planned before.
void take_instruction_set(const std::string& name);

/// Between the vectors of lines in a scratch. The cache line more keeps them out of each other's sets.
[[nodiscard]] constexpr Index scratch_stride_bytes(Index rows, Index vector_bytes) {
  constexpr Index cache_line_bytes = 64;
  return 2 * rows * vector_bytes + cache_line_bytes;
}
/// For a tile, for fewer lines than a tile has, and for the halves of real data.
template <class Real>
[[nodiscard]] Index scratch_bytes(const LinePlan<Real>& plan, Index width) {
  return (width + (plan.is_real() ? 2 : 1)) * scratch_stride_bytes(plan.most_elements(), vector_bytes());
}

}  // namespace fourscore::local::tiled
