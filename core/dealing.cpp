#include "core/dealing.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace fourscore {

Dealing Dealing::listed(std::vector<int> owners, int ranks) {
  auto list = std::make_shared<List>();
  list->first.resize(static_cast<std::size_t>(ranks) + 1);
  for (const int owner : owners) {
    if (owner < 0 || owner >= ranks) throw std::invalid_argument("pieces are dealt to a rank that is not there");
    ++list->first[static_cast<std::size_t>(owner) + 1];
  }
  std::partial_sum(list->first.begin(), list->first.end(), list->first.begin());
  list->pieces.resize(owners.size());
  std::iota(list->pieces.begin(), list->pieces.end(), Index{0});
  const auto owner_of = [&](Index piece) { return owners[static_cast<std::size_t>(piece)]; };
  std::ranges::stable_sort(list->pieces, {}, owner_of);
  const auto pieces = static_cast<Index>(owners.size());
  list->owners = std::move(owners);
  return {Rule::listed, pieces, ranks, std::move(list)};
}

bool Dealing::operator==(const Dealing& other) const {
  if (rule != other.rule || pieces != other.pieces || ranks != other.ranks) return false;
  return rule != Rule::listed || list->owners == other.list->owners;
}

int Dealing::owner(Index piece) const {
  if (rule == Rule::listed) return list->owners[static_cast<std::size_t>(piece)];
  if (rule == Rule::spread) return static_cast<int>(piece * ranks / pieces);
  return static_cast<int>(rule == Rule::blocks ? block_number(pieces, ranks, piece) : piece % ranks);
}

Index Dealing::count(int rank) const {
  if (rule == Rule::listed) {
    const auto at = list->first.begin() + rank;
    return static_cast<Index>(at[1] - at[0]);
  }
  if (rule == Rule::spread) return piece(rank + 1, 0) - piece(rank, 0);
  return block_range(pieces, ranks, rank).size();  // with either rule the first get what is left over
}

Index Dealing::piece(int rank, Index i) const {
  if (rule == Rule::listed)
    return list->pieces[list->first[static_cast<std::size_t>(rank)] + static_cast<std::size_t>(i)];
  if (rule == Rule::spread) return (rank * pieces + ranks - 1) / ranks + i;
  return rule == Rule::blocks ? block_range(pieces, ranks, rank).low + i : rank + i * ranks;
}

}  // namespace fourscore
