#pragma once
// The nodes of a job: each described once by one of its ranks, equal ones together (results/README.md).

#include <mpi.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/flags.hpp"

namespace fourscore {

/// What one node says of itself. Tests pretend others.
struct NodeDescription {
  std::string host;
  nlohmann::json machine;   ///< machine_identity()
  nlohmann::json settings;  ///< node_settings()
  std::string kernel{};     ///< the running kernel's own number (boot_id); empty: unknown
};
/// Processor, cores, caches, memory (to the nearest GiB: kernels differ in what they keep), GPUs, interconnect. Calls
/// no MPI.
[[nodiscard]] nlohmann::json machine_identity();
/// How the system is set: governor, limits of the cores' frequency in MHz, clock source, transparent huge pages,
/// kernel. What cannot be found out is absent.
[[nodiscard]] nlohmann::json node_settings();
[[nodiscard]] NodeDescription describe_this_node();

/// On rank 0; empty elsewhere. Nodes are numbered by their lowest rank.
struct JobNodes {
  std::vector<std::string> hosts;  ///< by node
  std::vector<int> node_of_rank;
  std::vector<NodeFacts> facts;  ///< by node, without plan_bytes
  /// The same by kernel. Nodes that are namespaces or containers of one machine share its cores and caches: for them
  /// the ranks of all count together.
  std::vector<NodeFacts> facts_by_kernel;
  std::vector<int> kernel_of_rank;
  /// Each distinct one with the numbers of its nodes as ranges (core/number_ranges.hpp), that of node 0 first.
  struct Kind {
    std::string nodes;
    nlohmann::json value;
  };
  std::vector<Kind> machines;   ///< NodeDescription::machine
  std::vector<Kind> settings;   ///< NodeDescription::settings
  std::vector<Kind> core_maps;  ///< array of the units each rank of a node may run on, as ranges, in rank order

  /// Whether some nodes are one machine.
  [[nodiscard]] bool share_a_kernel() const { return facts_by_kernel.size() < facts.size(); }
  /// Whether the nodes differ in machine or settings.
  [[nodiscard]] bool heterogeneous() const { return machines.size() > 1 || settings.size() > 1; }
  /// "block": the ranks of each node follow each other, the nodes in turn; "cyclic": rank r is on node r mod nodes;
  /// else an array of each node's ranks as ranges.
  [[nodiscard]] nlohmann::json placement() const;
};
/// Collective. Each node sends what it has and no other node had before as text, the rest as numbers.
[[nodiscard]] JobNodes describe_nodes(MPI_Comm comm,
                                      const std::function<NodeDescription()>& describe = describe_this_node);

/// What changes on a node while others run there; absent: unknown.
struct NodeState {
  std::optional<double> load_1min, cpu_mhz, cpu_mhz_min, cpu_mhz_max, temperature_c;
};
[[nodiscard]] NodeState state_of_this_node();
/// By quantity; what is unknown is left out.
[[nodiscard]] nlohmann::json state_json(const NodeState& state);
/// Collective; null on all ranks but 0, and under simulation. By quantity {"min", "median", "max", "host_of_min",
/// "host_of_max"} over the nodes that know it.
[[nodiscard]] nlohmann::json states_of_nodes(MPI_Comm comm,
                                             const std::function<NodeState()>& state = state_of_this_node);

}  // namespace fourscore
