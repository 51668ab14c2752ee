#pragma once
// A network of ours as SimGrid sees it. SimGrid would share each link's bandwidth among the messages that are on it and
// solve for all of them whenever one begins or ends, which takes minutes for an all-to-all of a hundred ranks. Here a
// link has a backlog instead: a message adds its bytes to the backlog of every link on its way, and has arrived when
// the longest of them has drained, and its latency is over. Of messages that begin together the last one arrives at the
// same time either way, which is what the most loaded link takes; the others arrive in the order in which they were
// sent, and not all at the end.

#include <memory>
#include <simgrid/s4u.hpp>
#include <vector>

#include "simulation/platform.hpp"
#include "simulation/topology.hpp"

namespace fourscore {

/// How much went over each link, by the topology's numbers, and the seconds until each is idle again.
struct LinkLoads {
  std::shared_ptr<const NetworkTopology> topology;
  std::vector<double> bytes;
  std::vector<double> idle_at_s;
};

struct SimulatedNetwork {
  std::vector<simgrid::s4u::Host*> hosts;
  std::shared_ptr<LinkLoads> loads;
};

/// Builds it in the engine that there is. Throws InputError where the platform's network cannot be.
[[nodiscard]] SimulatedNetwork build_network(const Platform& platform);

}  // namespace fourscore
