// Geometry alone: no MPI in this program.

#include <cstdio>

#include "core/grid.hpp"

int main() {
  const auto decomposition = fourscore::decompose({10, 1, 1}, fourscore::Grid{{3, 1, 1}});
  std::printf("10 elements on %d ranks:", decomposition.ranks());
  for (const auto& box : decomposition.boxes) std::printf(" %d", static_cast<int>(box.volume()));
  std::printf("\n");
}
