#pragma once
// Numbered pieces dealt to ranks by a rule, whatever the pieces are.

#include <memory>
#include <vector>

#include "core/box.hpp"

namespace fourscore {

/// `pieces` pieces, numbered from 0 on, for `ranks` ranks. blocks: contiguous runs (block_range), so that with fewer
/// pieces than ranks the first ranks have one each. round_robin: one after another, as cards. spread: of fewer pieces
/// than ranks, piece p is of rank p ranks/pieces, rounded down, so that nodes of equally many ranks have as many of
/// them.
/// listed: as `list` says.
struct Dealing {
  enum class Rule { blocks, round_robin, spread, listed };
  /// The rank of each piece, and the pieces by rank.
  struct List {
    std::vector<int> owners;
    std::vector<Index> pieces;       ///< ascending for each rank, one rank after another
    std::vector<std::size_t> first;  ///< by rank: where its pieces begin in that list; one more at the end
  };
  Rule rule = Rule::blocks;
  Index pieces = 0;
  int ranks = 1;
  std::shared_ptr<const List> list{};

  /// `owners`: the rank of each piece. Throws std::invalid_argument for one that is not below `ranks`.
  [[nodiscard]] static Dealing listed(std::vector<int> owners, int ranks);

  [[nodiscard]] int owner(Index piece) const;
  [[nodiscard]] Index count(int rank) const;
  /// The number of the rank's piece number `i` (0 <= i < count(rank)); ascending.
  [[nodiscard]] Index piece(int rank, Index i) const;
  bool operator==(const Dealing& other) const;
};

}  // namespace fourscore
