#pragma once
// Which host of a simulated network each node of a launch is: placement as part of the point. By arithmetic, without
// MPI.

#include <cstdint>
#include <vector>

#include "core/problem.hpp"
#include "simulation/topology.hpp"

namespace fourscore {

/// [node] the host it is on: `nodes` different hosts of a network that has at least as many.
/// row_major: in the order of the network, its last dimension fastest. random: any of them, by `seed`. hilbert: along a
/// Hilbert curve through a torus or mesh whose extents are one power of two. sub-cube: czechowski2012's ideal placement
/// on a 3-D torus, each of the sqrt(P) groups of sqrt(P) ranks that exchange data first on a cube of P^(1/6) hosts a
/// side; P is a sixth power. Throws InputError naming what is expected where the network does not allow the placement.
[[nodiscard]] std::vector<int> host_order(const NetworkShape& network, int nodes, HostOrder order, std::uint64_t seed);

}  // namespace fourscore
