#pragma once
// Cores and caches of this machine, and which of them may be used, by hwloc. No MPI here.

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <vector>

struct hwloc_topology;

namespace fourscore {

class Topology {
 public:
  /// The whole machine, also what this process may not use. Throws std::runtime_error when it cannot be read.
  Topology();
  ~Topology();
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  /// Processing units that this thread may run on, on machines of any size; empty where the system does not say.
  [[nodiscard]] static std::vector<int> usable_units();
  /// cpu_model, cores, threads_per_core, numa_nodes, caches; what hwloc does not know is absent. described_by, where
  /// that is not empty.
  [[nodiscard]] nlohmann::json identity() const;
  /// The variable of the environment by which hwloc was told of another machine, as HWLOC_SYNTHETIC; empty where it
  /// looked at this one.
  [[nodiscard]] std::string described_by() const;
  /// Logical numbers of the cores that hold these processing units.
  [[nodiscard]] std::set<int> cores_of(const std::vector<int>& units) const;
  /// Logical number of the package (socket) that holds this processing unit, 0 where that is unknown.
  [[nodiscard]] int package_of(int unit) const;
  /// Bytes of each outermost data cache above these processing units, by logical number.
  [[nodiscard]] std::map<int, double> last_level_caches_of(const std::vector<int>& units) const;

 private:
  hwloc_topology* topology_ = nullptr;
};

}  // namespace fourscore
