#pragma once
// An axis whose elements lie in permuted order, as a rule: the index is taken apart into digits. No MPI here.

#include <cstddef>
#include <span>
#include <vector>

#include "core/box.hpp"

namespace fourscore {

/// One digit of an index: it runs from 0 to extent - 1, each step adds `weight`, and its range is cut in `parts` blocks
/// (block_range).
struct Digit {
  Index extent = 1;
  Index weight = 1;
  int parts = 1;
  bool operator==(const Digit&) const = default;
};

/// The indices 0 to n - 1 of an axis, index = sum of digit times weight, in the order of coordinates 0 to n - 1: part
/// by part, the parts being the blocks of all digits in row-major order, and within a part digit by digit as `storage`
/// says, slowest first. n is the product of the extents.
struct DigitOrder {
  std::vector<Digit> digits;         ///< in the order of the parts, outermost first
  std::vector<std::size_t> storage;  ///< each digit once

  [[nodiscard]] Index size() const;
  [[nodiscard]] int parts() const;
  /// Coordinates of one part.
  [[nodiscard]] Range range(int part) const;
  /// The part that has this coordinate.
  [[nodiscard]] int part_of(Index coordinate) const;
  /// Indices of the coordinates from `first` on.
  void indices(Index first, std::span<Index> out) const;
  [[nodiscard]] Index coordinate_of(Index index) const;
  /// Whether every coordinate is its own index. May say no of one that is.
  [[nodiscard]] bool is_identity() const;
  bool operator==(const DigitOrder&) const = default;
};

/// Part r of `parts`, a power of two that divides n, holds the indices reversed(r) + parts k, ascending: what is left
/// to it after log2(parts) splits in even and odd.
[[nodiscard]] DigitOrder bit_reversed_parts(Index n, int parts);
/// The `bits` lowest bits of value, the other way round.
[[nodiscard]] int reversed_bits(int value, int bits);

}  // namespace fourscore
