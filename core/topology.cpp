#include "core/topology.hpp"

#include <hwloc.h>
#include <sched.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace fourscore {
namespace {

using nlohmann::json;

json caches(hwloc_topology_t topology) {
  json result = json::array();
  const int depth = hwloc_topology_get_depth(topology);
  for (int d = depth - 1; d >= 0; --d) {
    const hwloc_obj_t cache = hwloc_get_obj_by_depth(topology, d, 0);
    if (cache == nullptr || hwloc_obj_type_is_dcache(cache->type) == 0) continue;
    const int cores = hwloc_get_nbobjs_inside_cpuset_by_type(topology, cache->cpuset, HWLOC_OBJ_CORE);
    result.push_back({{"level", cache->attr->cache.depth}, {"bytes", cache->attr->cache.size}, {"shared_by", cores}});
  }
  return result;
}

/// By which hwloc takes a description in place of the machine.
constexpr std::array<const char*, 4> describing_variables{"HWLOC_SYNTHETIC", "HWLOC_XMLFILE", "HWLOC_FSROOT",
                                                          "HWLOC_CPUID_PATH"};

}  // namespace

Topology::Topology() {
  if (hwloc_topology_init(&topology_) != 0) throw std::runtime_error("hwloc cannot describe this machine");
  if (hwloc_topology_set_flags(topology_, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0 ||
      hwloc_topology_load(topology_) != 0) {
    hwloc_topology_destroy(topology_);
    throw std::runtime_error("hwloc cannot describe this machine");
  }
}

Topology::~Topology() { hwloc_topology_destroy(topology_); }

json Topology::identity() const {
  const int cores = hwloc_get_nbobjs_by_type(topology_, HWLOC_OBJ_CORE);
  const int units = hwloc_get_nbobjs_by_type(topology_, HWLOC_OBJ_PU);
  json result{{"caches", caches(topology_)}, {"numa_nodes", hwloc_get_nbobjs_by_type(topology_, HWLOC_OBJ_NUMANODE)}};
  if (cores > 0) {
    result["cores"] = cores;
    result["threads_per_core"] = units / cores;
  }
  const hwloc_obj_t package = hwloc_get_obj_by_type(topology_, HWLOC_OBJ_PACKAGE, 0);
  const char* model = package == nullptr ? nullptr : hwloc_obj_get_info_by_name(package, "CPUModel");
  if (model != nullptr) result["cpu_model"] = model;
  if (const std::string other = described_by(); !other.empty()) result["described_by"] = other;
  return result;
}

std::string Topology::described_by() const {
  for (const char* name : describing_variables)
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return name;
  return hwloc_topology_is_thissystem(topology_) == 0 ? "hwloc" : "";
}

/// Not asked of hwloc: where HWLOC_XMLFILE describes the machine, hwloc 2 says that a thread may run everywhere.
std::vector<int> Topology::usable_units() {
  constexpr std::size_t max_units = std::size_t{1} << 20;
  std::vector<int> units;
  for (std::size_t count = CPU_SETSIZE; count <= max_units; count *= 2) {
    struct Free {
      void operator()(cpu_set_t* set) const { CPU_FREE(set); }
    };
    const std::unique_ptr<cpu_set_t, Free> set(CPU_ALLOC(count));
    if (!set) throw std::bad_alloc();
    const std::size_t bytes = CPU_ALLOC_SIZE(count);
    if (::sched_getaffinity(0, bytes, set.get()) == 0) {
      for (std::size_t unit = 0; unit < count; ++unit)
        if (CPU_ISSET_S(unit, bytes, set.get())) units.push_back(static_cast<int>(unit));
      return units;
    }
    if (errno != EINVAL) break;  // EINVAL: the machine has more units than the set holds
  }
  return units;
}

std::set<int> Topology::cores_of(const std::vector<int>& units) const {
  std::set<int> cores;
  for (const int unit : units) {
    const hwloc_obj_t object = hwloc_get_pu_obj_by_os_index(topology_, static_cast<unsigned>(unit));
    if (object == nullptr) continue;
    const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology_, HWLOC_OBJ_CORE, object);
    cores.insert(static_cast<int>(core == nullptr ? object->logical_index : core->logical_index));
  }
  return cores;
}

int Topology::package_of(int unit) const {
  const hwloc_obj_t object = unit < 0 ? nullptr : hwloc_get_pu_obj_by_os_index(topology_, static_cast<unsigned>(unit));
  const hwloc_obj_t package =
      object == nullptr ? nullptr : hwloc_get_ancestor_obj_by_type(topology_, HWLOC_OBJ_PACKAGE, object);
  return package == nullptr ? 0 : static_cast<int>(package->logical_index);
}

std::map<int, double> Topology::last_level_caches_of(const std::vector<int>& units) const {
  std::map<int, double> caches;
  for (const int unit : units) {
    hwloc_obj_t outermost = nullptr;
    for (hwloc_obj_t object = hwloc_get_pu_obj_by_os_index(topology_, static_cast<unsigned>(unit)); object != nullptr;
         object = object->parent)
      if (hwloc_obj_type_is_dcache(object->type) != 0) outermost = object;
    if (outermost != nullptr)
      caches[static_cast<int>(outermost->logical_index)] = static_cast<double>(outermost->attr->cache.size);
  }
  return caches;
}

}  // namespace fourscore
