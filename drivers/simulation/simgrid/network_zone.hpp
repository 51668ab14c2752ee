#pragma once
// A network of ours as SimGrid sees it, of backlogs instead of shared bandwidth.

#include <memory>
#include <simgrid/s4u.hpp>
#include <vector>

#include "simulation/backlogs.hpp"
#include "simulation/platform.hpp"

namespace fourscore {

struct SimulatedNetwork {
  std::vector<simgrid::s4u::Host*> hosts;
  std::shared_ptr<Backlogs> backlogs;
};

/// Builds it in the engine that there is. Throws InputError where the platform's network cannot be.
[[nodiscard]] SimulatedNetwork build_network(const Platform& platform);

}  // namespace fourscore
