#pragma once
// The iterations of the Cooley-Tukey algorithm within one rank, without a library: each of them one pass over memory.
// No MPI here.

#include <complex>
#include <cstddef>
#include <vector>

#include "core/problem.hpp"
#include "variants/binary_exchange/line_factors.hpp"

namespace fourscore {

/// Iterations l >= d of Figure 1 (gupta1993) on the rank that P = 2^d ranks left with output k1: a transform along one
/// axis of a local array, whose `length` m is a power of two. Pass s = l - d combines elements m / 2^(s + 1) apart.
/// Those of a block share their leading bits, hence one factor: a + c b and a - c b, and the s-th pass has 2^s factors.
/// The result is unordered, at place j the one of index j with its bits reversed. All factors are computed at planning.
template <class Real>
class Radix2Passes {
 public:
  using Value = std::complex<Real>;
  /// from_end: the inverse passes, the last one first, from the unordered result.
  Radix2Passes(const AxisView& view, Index ranks, Index k1, Direction direction, bool from_end);

  [[nodiscard]] int passes() const { return passes_; }
  /// All passes, from `in` to `out`, which may be the same. That over neighbours moves the data.
  void run(Value* in, Value* out) const;
  /// One of them, in the order of run().
  void run_pass(int number, Value* in, Value* out) const;
  /// From reversed to ascending indices; `in` and `out` must not overlap.
  void put_in_order(const Value* in, Value* out) const;

  [[nodiscard]] std::size_t bytes() const { return factors_.size() * sizeof(Value); }

 private:
  [[nodiscard]] int stage_of(int number) const { return from_end_ ? passes_ - 1 - number : number; }
  void pass_in_place(int stage, Value* data) const;
  void pass_over_neighbours(const Value* in, Value* out) const;
  void put_line_in_order(const Value* in, Value* out) const;

  AxisView view_;
  int passes_;
  bool from_end_;
  std::vector<Value> factors_;  ///< factors of stage s begin at place 2^s - 1
};

extern template class Radix2Passes<double>;
extern template class Radix2Passes<float>;

}  // namespace fourscore
