#pragma once
// Ranks under SimGrid's MPI: all of them in this process, on hosts that are only computed.

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "core/problem.hpp"

namespace fourscore {

/// What a launch asks for.
struct Simulation {
  std::string platform;  ///< a name or a file
  int ranks = 1;
  int nodes = 1;  ///< hosts; the first ranks % nodes have one rank more
  HostOrder host_order = HostOrder::row_major;
  std::uint64_t seed = 1;  ///< for the order random
};

/// Runs rank_main() once for each rank, each of which calls MPI_Init itself, and returns the largest of the codes that
/// they return. One call in a process. Throws InputError where platform, ranks and order do not fit each other.
[[nodiscard]] int simulate(const Simulation& simulation, const std::function<int()>& rank_main);

}  // namespace fourscore
