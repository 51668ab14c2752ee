#pragma once
// The networks of simulated machines: which links a message takes from one host to another, by arithmetic. Knows
// neither MPI nor a simulator.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fourscore {

/// What a network is made of; which of them a topology reads stands with its name in network_topologies().
struct NetworkShape {
  std::string topology{};         ///< "torus", "mesh", "hypercube", "fat-tree", "dragonfly", "full" or "star"
  std::vector<int> extents{};     ///< torus, mesh: routers along each dimension; the last varies fastest
  std::vector<int> down{}, up{};  ///< fat-tree, from the hosts up: nodes below each switch, switches above each node
  int groups = 0, routers = 0;    ///< dragonfly: groups, routers of each
  int hosts_per_router = 1;       ///< torus, mesh, dragonfly
  int hosts = 0;                  ///< how many in all
  bool shared_by_directions = false;  ///< the two directions of a wire share its bandwidth, else each has its own
};

/// Links have numbers from 0 to links() - 1. A wire whose directions have their own bandwidth is two links.
class NetworkTopology {
 public:
  virtual ~NetworkTopology() = default;
  [[nodiscard]] virtual std::int64_t links() const = 0;
  /// Appends the links from host `from` to another host `to`, in the order in which a message takes them.
  virtual void route(int from, int to, std::vector<std::int64_t>& links) const = 0;
  /// "3,4 +0": one link of a map of loads.
  [[nodiscard]] virtual std::string name_of(std::int64_t link) const = 0;
  /// "+0": links that a map shows together, as those of one dimension and direction, or of one level.
  [[nodiscard]] virtual std::string kind_of(std::int64_t link) const = 0;
};

/// Throws InputError where extents and hosts contradict each other, or where there are too many hosts.
[[nodiscard]] std::unique_ptr<NetworkTopology> make_topology(const NetworkShape& shape);
[[nodiscard]] const std::vector<std::string>& topology_names();
/// Hosts of a shape from its extents; 0 where it has none of its own (hypercube, full, star).
[[nodiscard]] int hosts_of(const NetworkShape& shape);
/// `hosts` as a product of `dimensions` extents that are as equal as can be, the largest first.
[[nodiscard]] std::vector<int> most_cubic_extents(int hosts, int dimensions);

}  // namespace fourscore
