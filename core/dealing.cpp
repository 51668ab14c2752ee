#include "core/dealing.hpp"

namespace fourscore {

int Dealing::owner(Index piece) const {
  return static_cast<int>(rule == Rule::blocks ? block_number(pieces, ranks, piece) : piece % ranks);
}

Index Dealing::count(int rank) const {
  return block_range(pieces, ranks, rank).size();  // with either rule the first get what is left over
}

Index Dealing::piece(int rank, Index i) const {
  return rule == Rule::blocks ? block_range(pieces, ranks, rank).low + i : rank + i * ranks;
}

}  // namespace fourscore
