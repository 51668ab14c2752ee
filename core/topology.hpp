#pragma once
// Cores and caches of this machine, and which of them may be used, by hwloc. No MPI here.

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

struct hwloc_topology;

namespace fourscore {

/// A processing unit that hwloc knows in no core, as in some virtual machines, counts as a core of its own.
class Topology {
 public:
  struct Cache {
    unsigned level = 0;
    std::uint64_t bytes = 0;
    int shared_by = 0;  ///< cores
  };

  /// The whole machine, also what this process may not use. Throws std::runtime_error when it cannot be read.
  Topology();
  ~Topology();
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  /// Processing units that this thread may run on, on machines of any size; empty where the system does not say.
  [[nodiscard]] static std::vector<int> usable_units();
  /// cpu_model, cores, threads_per_core, numa_nodes, caches; what hwloc does not know is absent. Where cores are of
  /// several kinds, core_kinds has what each of them is, threads_per_core is the largest of them, and caches are those
  /// of the first. A kind's threads_per_core, and the cores that share one of its caches, are the most that it has
  /// anywhere: some may be offline. described_by, where that is not empty.
  [[nodiscard]] nlohmann::json identity() const;
  /// The variable of the environment by which hwloc was told of another machine, as HWLOC_SYNTHETIC; empty where it
  /// looked at this one.
  [[nodiscard]] std::string described_by() const;
  /// False where hwloc knows processing units only: nothing can be bound to cores then.
  [[nodiscard]] bool knows_cores() const;
  /// Numbers of the cores that hold these processing units.
  [[nodiscard]] std::set<int> cores_of(const std::vector<int>& units) const;
  /// Numbers of the kinds that these cores are of, in the order of core_kinds.
  [[nodiscard]] std::set<int> kinds_of(const std::set<int>& cores) const;
  /// Logical number of the package (socket) that holds this processing unit, 0 where that is unknown.
  [[nodiscard]] int package_of(int unit) const;
  /// Bytes of each outermost data cache above these processing units, by logical number.
  [[nodiscard]] std::map<int, double> last_level_caches_of(const std::vector<int>& units) const;

 private:
  struct CoreKind;
  void find_kinds();

  hwloc_topology* topology_ = nullptr;
  std::vector<CoreKind> kinds_;
};

}  // namespace fourscore
