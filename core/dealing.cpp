#include "core/dealing.hpp"

namespace fourscore {

int Dealing::owner(Index piece) const {
  if (rule == Rule::spread) return static_cast<int>(piece * ranks / pieces);
  return static_cast<int>(rule == Rule::blocks ? block_number(pieces, ranks, piece) : piece % ranks);
}

Index Dealing::count(int rank) const {
  if (rule == Rule::spread) return piece(rank + 1, 0) - piece(rank, 0);
  return block_range(pieces, ranks, rank).size();  // with either rule the first get what is left over
}

Index Dealing::piece(int rank, Index i) const {
  if (rule == Rule::spread) return (rank * pieces + ranks - 1) / ranks + i;
  return rule == Rule::blocks ? block_range(pieces, ranks, rank).low + i : rank + i * ranks;
}

}  // namespace fourscore
