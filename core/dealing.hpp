#pragma once
// Numbered pieces dealt to ranks by a rule, whatever the pieces are.

#include "core/box.hpp"

namespace fourscore {

/// `pieces` pieces, numbered from 0 on, for `ranks` ranks. blocks: contiguous runs (block_range), so that with fewer
/// pieces than ranks the first ranks have one each. round_robin: one after another, as cards. spread: of fewer pieces
/// than ranks, piece p is of rank p ranks/pieces, rounded down, so that nodes of equally many ranks have as many of
/// them.
struct Dealing {
  enum class Rule { blocks, round_robin, spread };
  Rule rule = Rule::blocks;
  Index pieces = 0;
  int ranks = 1;

  [[nodiscard]] int owner(Index piece) const;
  [[nodiscard]] Index count(int rank) const;
  /// The number of the rank's piece number `i` (0 <= i < count(rank)); ascending.
  [[nodiscard]] Index piece(int rank, Index i) const;
  bool operator==(const Dealing&) const = default;
};

}  // namespace fourscore
