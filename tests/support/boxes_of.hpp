#pragma once
// All boxes of a decomposition, for tests on few ranks.

#include <vector>

#include "core/decomposition.hpp"

namespace fourscore::test {

inline std::vector<Box> boxes_of(const Decomposition& decomposition) {
  std::vector<Box> boxes;
  for (int rank = 0; rank < decomposition.ranks(); ++rank) boxes.push_back(decomposition.box(rank));
  return boxes;
}

/// Six elements in the order 0, 2, 4, 1, 3, 5.
inline DigitOrder even_then_odd_of_six() { return {{{2, 1, 1}, {3, 2, 1}}, {0, 1}}; }

}  // namespace fourscore::test
