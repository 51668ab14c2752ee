#include "core/topology.hpp"

#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace fourscore {
namespace {

using nlohmann::json;

/// The core that holds a unit, or the unit where hwloc knows no core around it.
hwloc_obj_t core_around(hwloc_topology_t topology, hwloc_obj_t unit) {
  const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, unit);
  return core == nullptr ? unit : core;
}

/// Units without a core are numbered behind the cores.
int number_of(hwloc_topology_t topology, hwloc_obj_t core) {
  const int cores = core->type == HWLOC_OBJ_CORE ? 0 : hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
  return cores + static_cast<int>(core->logical_index);
}

/// All of the machine, in logical order.
std::vector<hwloc_obj_t> cores_in(hwloc_topology_t topology) {
  std::vector<hwloc_obj_t> cores;
  for (hwloc_obj_t unit = nullptr; (unit = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, unit)) != nullptr;)
    if (const hwloc_obj_t core = core_around(topology, unit); cores.empty() || cores.back() != core)
      cores.push_back(core);
  return cores;
}

/// What the system calls a core of this kind ("IntelAtom"), or how much work it does beside others.
std::string type_of([[maybe_unused]] hwloc_topology_t topology, [[maybe_unused]] hwloc_obj_t core) {
  std::string type;
#if HWLOC_API_VERSION >= 0x00020400
  const int kind = hwloc_cpukinds_get_by_cpuset(topology, core->cpuset, 0);
  unsigned count = 0;
  hwloc_info_s* infos = nullptr;
  if (kind < 0 ||
      hwloc_cpukinds_get_info(topology, static_cast<unsigned>(kind), nullptr, nullptr, &count, &infos, 0) != 0)
    return type;
  // Frequencies are left out: favoured cores of one kind have others.
  for (const char* const name : {"CoreType", "LinuxCapacity"})
    for (unsigned i = 0; i < count && type.empty(); ++i)
      if (std::string_view(infos[i].name) == name) type = infos[i].value;
#endif
  return type;
}

/// The data caches above a core, from the innermost on.
std::vector<Topology::Cache> caches_above(hwloc_topology_t topology, hwloc_obj_t core) {
  std::vector<Topology::Cache> caches;
  // Within the core lie those that its units share.
  hwloc_obj_t inner = core;
  while (inner->arity > 0) inner = inner->first_child;
  for (hwloc_obj_t object = inner; object != nullptr; object = object->parent) {
    if (hwloc_obj_type_is_dcache(object->type) == 0) continue;
    std::set<hwloc_obj_t> sharing;
    for (hwloc_obj_t unit = nullptr;
         (unit = hwloc_get_next_obj_inside_cpuset_by_type(topology, object->cpuset, HWLOC_OBJ_PU, unit)) != nullptr;)
      sharing.insert(core_around(topology, unit));
    caches.push_back({object->attr->cache.depth, object->attr->cache.size, static_cast<int>(sharing.size())});
  }
  return caches;
}

/// Variables by which hwloc takes a description in place of the machine.
constexpr std::array<const char*, 4> describing_variables{"HWLOC_SYNTHETIC", "HWLOC_XMLFILE", "HWLOC_FSROOT",
                                                          "HWLOC_CPUID_PATH"};

}  // namespace

struct Topology::CoreKind {
  std::string type;
  std::vector<Cache> caches;  ///< the same for all cores but for who shares them: there, those of the core with most
  int threads = 0;            ///< on the core with most; 0: unknown
  std::set<int> cores;

  [[nodiscard]] bool is_of(const std::string& its_type, const std::vector<Cache>& its_caches) const {
    return type == its_type && std::ranges::equal(caches, its_caches, [](const Cache& one, const Cache& other) {
             return one.level == other.level && one.bytes == other.bytes;
           });
  }
  [[nodiscard]] json description() const {
    json list = json::array();
    for (const Cache& cache : caches)
      list.push_back({{"level", cache.level}, {"bytes", cache.bytes}, {"shared_by", cache.shared_by}});
    json result{{"caches", std::move(list)}};
    if (threads > 0) result["threads_per_core"] = threads;
    return result;
  }
};

Topology::Topology() {
  if (hwloc_topology_init(&topology_) != 0) throw std::runtime_error("hwloc cannot describe this machine");
  if (hwloc_topology_set_flags(topology_, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0 ||
      hwloc_topology_load(topology_) != 0) {
    hwloc_topology_destroy(topology_);
    throw std::runtime_error("hwloc cannot describe this machine");
  }
  find_kinds();
}

Topology::~Topology() { hwloc_topology_destroy(topology_); }

void Topology::find_kinds() {
  for (const hwloc_obj_t core : cores_in(topology_)) {
    const std::string type = type_of(topology_, core);
    const std::vector<Cache> caches = caches_above(topology_, core);
    auto kind = std::ranges::find_if(kinds_, [&](const CoreKind& known) { return known.is_of(type, caches); });
    if (kind == kinds_.end()) kind = kinds_.insert(kind, {type, caches, 0, {}});
    for (std::size_t i = 0; i < caches.size(); ++i)
      kind->caches[i].shared_by = std::max(kind->caches[i].shared_by, caches[i].shared_by);
    if (core->type == HWLOC_OBJ_CORE) kind->threads = std::max(kind->threads, hwloc_bitmap_weight(core->cpuset));
    kind->cores.insert(number_of(topology_, core));
  }
}

json Topology::identity() const {
  json result{{"numa_nodes", hwloc_get_nbobjs_by_type(topology_, HWLOC_OBJ_NUMANODE)}};
  if (!kinds_.empty()) result.update(kinds_.front().description());
  std::size_t cores = 0;
  int threads = 0;
  for (const CoreKind& kind : kinds_) {
    cores += kind.cores.size();
    threads = std::max(threads, kind.threads);
  }
  if (cores > 0) result["cores"] = cores;
  if (threads > 0) result["threads_per_core"] = threads;
  for (const CoreKind& kind : kinds_) {
    if (kinds_.size() == 1) break;
    json& entry = result["core_kinds"].emplace_back(kind.description());
    entry["cores"] = kind.cores.size();
    if (!kind.type.empty()) entry["type"] = kind.type;
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

bool Topology::knows_cores() const { return hwloc_get_nbobjs_by_type(topology_, HWLOC_OBJ_CORE) > 0; }

std::set<int> Topology::cores_of(const std::vector<int>& units) const {
  std::set<int> cores;
  for (const int unit : units)
    if (const hwloc_obj_t object = hwloc_get_pu_obj_by_os_index(topology_, static_cast<unsigned>(unit)))
      cores.insert(number_of(topology_, core_around(topology_, object)));
  return cores;
}

std::set<int> Topology::kinds_of(const std::set<int>& cores) const {
  std::set<int> found;
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind)
    if (std::ranges::any_of(cores, [&](int core) { return kinds_[kind].cores.contains(core); }))
      found.insert(static_cast<int>(kind));
  return found;
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
