#pragma once
// Where a result is wrong: the first element, and what the wrong ones have in common.

#include <mpi.h>

#include <complex>
#include <cstddef>
#include <limits>
#include <string>

#include "core/box.hpp"

namespace fourscore {

/// The wrong elements of one rank, among those that it looked at.
class WrongElements {
 public:
  void look_at(Index elements) { looked_at_ += elements; }
  /// `index` of the grid of extents `shape`.
  void add(const Extents& index, const Extents& shape, const std::complex<double>& computed,
           const std::complex<double>& expected);

  /// Collective over comm, where some rank has one: "first at 0x3x2 on rank 1, 1.5 in place of 2; 35 of 210 elements:
  /// all those of rank 1". Costs a few reductions. `real`: the elements are.
  [[nodiscard]] std::string text(MPI_Comm comm, const Extents& shape, std::size_t axes, bool real) const;

 private:
  static constexpr Index none = std::numeric_limits<Index>::max();
  Index looked_at_ = 0;
  Index count_ = 0;
  Index first_ = none;  ///< row-major
  std::complex<double> computed_;
  std::complex<double> expected_;
  Extents low_{none, none, none};
  Extents high_{-1, -1, -1};  ///< inclusive
};

}  // namespace fourscore
