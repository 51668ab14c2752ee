#pragma once
// The factors between the butterflies among ranks and the transforms of the local library. No MPI here.

#include <algorithm>
#include <complex>
#include <cstddef>

#include "kernels/roots.hpp"

namespace fourscore {

/// A local array seen along one axis: `outer` blocks of `length` pieces of `inner` adjacent elements.
struct AxisView {
  Index outer = 1;
  Index length = 1;
  Index inner = 1;
  [[nodiscard]] Index elements() const { return outer * length * inner; }
};

/// Multiplies element j along the axis by root^(k1 j): w_n^(j k1) where `root` is of order n.
template <class Real>
class LineFactors {
 public:
  using Value = std::complex<Real>;
  LineFactors(const AxisView& view, const Roots& root, Index k1, bool whole_table)
      : view_(view), is_one_(k1 == 0), line_(root, k1, view.length, whole_table) {}

  /// Whether all factors are 1, as on a rank whose k1 is 0.
  [[nodiscard]] bool is_one() const { return is_one_; }
  [[nodiscard]] std::size_t bytes() const { return line_.bytes(); }

  /// The elements of this range of the whole array at `data`.
  void multiply(Value* data, Range range) const {
    for (Index at = range.low; at < range.high;) {
      const Index place = at / view_.inner % view_.length;
      Index end = 0;
      if (view_.inner == 1) {  // to the end of the line, each element with its own factor
        end = std::min(range.high, at - place + view_.length);
        line_.multiply(data + at, place, place + (end - at));
      } else {  // to the end of the piece, all with one
        end = std::min(range.high, (at / view_.inner + 1) * view_.inner);
        Value factor(1);
        line_.multiply(&factor, place, place + 1);
        for (Index i = at; i < end; ++i) data[i] = kernels::product(factor, data[i]);
      }
      at = end;
    }
  }

 private:
  AxisView view_;
  bool is_one_;
  RootLine<Real> line_;
};

}  // namespace fourscore
