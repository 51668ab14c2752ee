// Geometry alone: no MPI in this program.

#include <cstdio>

#include "core/decomposition.hpp"

int main() {
  const auto decomposition = fourscore::decompose({10, 1, 1}, fourscore::Grid{{3, 1, 1}});
  std::printf("10 elements on %d ranks:", decomposition.ranks());
  for (int rank = 0; rank < decomposition.ranks(); ++rank)
    std::printf(" %d", static_cast<int>(decomposition.box(rank).volume()));
  std::printf("\n");
}
