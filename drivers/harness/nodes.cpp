#include "harness/nodes.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "core/number_ranges.hpp"
#include "core/sha256.hpp"
#include "core/topology.hpp"
#include "harness/gather.hpp"
#include "harness/interconnect.hpp"
#include "harness/simulated.hpp"
#include "harness/system_files.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

constexpr int text_tag = 4712;

constexpr std::array<std::pair<const char*, std::optional<double> NodeState::*>, 5> quantities{
    {{"load_1min", &NodeState::load_1min},
     {"cpu_mhz", &NodeState::cpu_mhz},
     {"cpu_mhz_min", &NodeState::cpu_mhz_min},
     {"cpu_mhz_max", &NodeState::cpu_mhz_max},
     {"temperature_c", &NodeState::temperature_c}}};

/// The ranks of this node, and the lowest rank of each node among themselves.
struct NodeComms {
  explicit NodeComms(MPI_Comm comm) : node(mpi::split_by_node(comm)) {
    leads = mpi::rank_in(node.get()) == 0;
    leaders = mpi::split(comm, leads ? 0 : MPI_UNDEFINED, mpi::rank_in(comm));
  }
  mpi::Communicator node;
  mpi::Communicator leaders;  ///< null on ranks that lead none
  bool leads = false;
};

/// What distinct values the nodes have, on rank 0 of the leaders.
struct Kinds {
  std::vector<json> values;       ///< in the order of the first node that has each
  std::vector<int> kind_of_node;  ///< place in values
};

void receive(MPI_Comm leaders, int node, std::string& text) {
  MPI_Status status;
  int length = 0;
  FOURSCORE_MPI(MPI_Probe(node, text_tag, leaders, &status));
  FOURSCORE_MPI(MPI_Get_count(&status, MPI_CHAR, &length));
  text.resize(static_cast<std::size_t>(length));
  FOURSCORE_MPI(MPI_Recv(text.data(), length, MPI_CHAR, node, text_tag, leaders, MPI_STATUS_IGNORE));
}

/// Collective over the leaders. Only the first node of each kind sends its text.
Kinds kinds(MPI_Comm leaders, const json& mine) {
  std::string text = mine.dump(-1, ' ', false, json::error_handler_t::replace);
  const auto hashes =
      gather_values(leaders, static_cast<std::uint64_t>(std::stoull(sha256_hex(text).substr(0, 16), nullptr, 16)));
  Kinds found;
  std::map<std::uint64_t, int> kind_of_hash;
  std::vector<int> first_nodes;
  std::vector<int> sends(hashes.size());
  for (std::size_t node = 0; node < hashes.size(); ++node) {
    const auto [entry, is_new] = kind_of_hash.emplace(hashes[node], static_cast<int>(first_nodes.size()));
    found.kind_of_node.push_back(entry->second);
    if (!is_new) continue;
    sends[node] = 1;
    first_nodes.push_back(static_cast<int>(node));
  }
  int send = 0;
  FOURSCORE_MPI(MPI_Scatter(sends.data(), 1, MPI_INT, &send, 1, MPI_INT, 0, leaders));
  if (const int rank = mpi::rank_in(leaders); rank != 0) {
    if (send != 0) FOURSCORE_MPI(MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, text_tag, leaders));
    return found;
  }
  for (const int node : first_nodes) {
    if (node != 0) receive(leaders, node, text);
    found.values.push_back(json::parse(text));
  }
  return found;
}

std::vector<JobNodes::Kind> with_nodes(const Kinds& kinds) {
  std::vector<std::vector<int>> nodes(kinds.values.size());
  for (std::size_t node = 0; node < kinds.kind_of_node.size(); ++node)
    nodes[static_cast<std::size_t>(kinds.kind_of_node[node])].push_back(static_cast<int>(node));
  std::vector<JobNodes::Kind> list;
  for (std::size_t kind = 0; kind < nodes.size(); ++kind)
    list.push_back({number_ranges(nodes[kind]), kinds.values[kind]});
  return list;
}

namespace fs = std::filesystem;

json gpu_models() {
  json models = json::array();
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc/driver/nvidia/gpus", ignored))
    for (const auto& model : values_of(entry.path() / "information", "Model")) models.push_back(model);
  return models;
}

std::optional<double> temperature_c() {
  std::error_code ignored;
  for (const auto& zone : fs::directory_iterator("/sys/class/thermal", ignored)) {
    const std::string type = first_line(zone.path() / "type").value_or("");
    if (type.find("pkg") == std::string::npos && type.find("cpu") == std::string::npos) continue;
    if (const auto value = first_line(zone.path() / "temp")) return std::strtod(value->c_str(), nullptr) / 1000;
  }
  for (const auto& monitor : fs::directory_iterator("/sys/class/hwmon", ignored)) {
    const std::string name = first_line(monitor.path() / "name").value_or("");
    if (name != "coretemp" && name != "k10temp" && name != "zenpower") continue;
    if (const auto value = first_line(monitor.path() / "temp1_input"))
      return std::strtod(value->c_str(), nullptr) / 1000;
  }
  return std::nullopt;
}

/// The chosen word of "always [madvise] never".
std::optional<std::string> chosen_word(const fs::path& path) {
  const auto line = first_line(path);
  if (!line) return std::nullopt;
  const auto open = line->find('[');
  const auto close = line->find(']');
  if (open == std::string::npos || close == std::string::npos) return line;
  return line->substr(open + 1, close - open - 1);
}

using HostName = std::array<char, 256>;

HostName fixed(const std::string& name) {
  HostName fixed{};
  std::copy_n(name.begin(), std::min(name.size(), fixed.size() - 1), fixed.begin());
  return fixed;
}

std::string text_of(const HostName& name) { return {name.data(), ::strnlen(name.data(), name.size())}; }

std::string host_name() {
  HostName name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? text_of(name) : std::string("unknown");
}

/// On the lowest rank of the node.
json core_map_of(const std::vector<std::vector<int>>& units) {
  json map = json::array();
  for (const auto& of_rank : units) map.push_back(number_ranges(of_rank));
  return map;
}

/// [rank of the node][its cores], their kinds, and the caches beside them: what NodeFacts has, as kinds() passes it on.
json facts_of(const std::vector<std::vector<int>>& units) {
  const Topology topology;
  json cores = json::array();
  std::set<int> of_all;
  std::map<int, double> caches;
  for (const auto& of_rank : units) {
    cores.push_back(topology.cores_of(of_rank));
    of_all.merge(topology.cores_of(of_rank));
    caches.merge(topology.last_level_caches_of(of_rank));
  }
  return {{"cores", cores}, {"core_kinds", topology.kinds_of(of_all)}, {"last_level_caches", caches}};
}

/// Reads nodes that are one machine together: their numbers of cores and caches are those of that machine.
NodeFacts read_facts(const std::vector<json>& nodes) {
  NodeFacts facts;
  std::map<int, double> caches;
  for (const json& node : nodes) {
    for (const json& cores : node.at("cores")) facts.ranks.push_back({cores.get<std::set<int>>()});
    facts.core_kinds.merge(node.at("core_kinds").get<std::set<int>>());
    caches.merge(node.at("last_level_caches").get<std::map<int, double>>());
  }
  for (const auto& [index, size] : caches) facts.last_level_cache_bytes += size;
  return facts;
}

/// Facts of each kernel, and the number of each node's. What is unknown is a kernel of its own.
std::pair<std::vector<NodeFacts>, std::vector<int>> by_kernel(const std::vector<std::string>& kernels,
                                                              const std::vector<json>& facts) {
  std::map<std::string, int> known;
  std::vector<int> kernel_of_node;
  std::vector<std::vector<json>> of_kernel;
  for (std::size_t node = 0; node < kernels.size(); ++node) {
    const auto next = static_cast<int>(of_kernel.size());
    const int kernel = kernels[node].empty() ? next : known.emplace(kernels[node], next).first->second;
    if (kernel == next) of_kernel.emplace_back();
    of_kernel[static_cast<std::size_t>(kernel)].push_back(facts[node]);
    kernel_of_node.push_back(kernel);
  }
  std::vector<NodeFacts> merged;
  for (const auto& nodes : of_kernel) merged.push_back(read_facts(nodes));
  return {merged, kernel_of_node};
}

}  // namespace

json machine_identity() {
  const Topology topology;
  json machine = topology.identity();
  utsname system{};
  if (::uname(&system) == 0) machine["arch"] = system.machine;
  if (!machine.contains("cpu_model"))
    if (const auto models = values_of("/proc/cpuinfo", "model name"); !models.empty())
      machine["cpu_model"] = models.front();
  // Not hwloc's sum over NUMA nodes, which containers may falsify.
  constexpr double gibibyte = 1024.0 * 1024 * 1024;
  const double memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (memory > 0) machine["memory_bytes"] = static_cast<std::int64_t>(std::round(memory / gibibyte) * gibibyte);
  machine["gpus"] = gpu_models();
  machine["interconnect"] = interconnect_identity();
  return machine;
}

json node_settings() {
  json settings = json::object();
  const fs::path cores = "/sys/devices/system/cpu/cpu0/cpufreq";
  if (const auto value = first_line(cores / "scaling_governor")) settings["governor"] = *value;
  const auto low = first_line(cores / "scaling_min_freq"), high = first_line(cores / "scaling_max_freq");
  if (low && high)
    settings["cpu_mhz_limits"] = {std::strtod(low->c_str(), nullptr) / 1000,
                                  std::strtod(high->c_str(), nullptr) / 1000};
  if (const auto value = first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"))
    settings["clock_source"] = *value;
  if (const auto value = chosen_word("/sys/kernel/mm/transparent_hugepage/enabled")) settings["thp"] = *value;
  utsname system{};
  if (::uname(&system) == 0) settings["kernel"] = system.release;
  return settings;
}

NodeDescription describe_this_node() {
  return {host_name(), machine_identity(), node_settings(), first_line("/proc/sys/kernel/random/boot_id").value_or("")};
}

json JobNodes::placement() const {
  const auto nodes = static_cast<int>(hosts.size());
  if (std::ranges::is_sorted(node_of_rank)) return "block";
  bool cyclic = true;
  std::vector<std::vector<int>> ranks(hosts.size());
  for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank) {
    cyclic = cyclic && node_of_rank[rank] == static_cast<int>(rank) % nodes;
    ranks[static_cast<std::size_t>(node_of_rank[rank])].push_back(static_cast<int>(rank));
  }
  if (cyclic) return "cyclic";
  json all = json::array();
  for (const auto& of_node : ranks) all.push_back(number_ranges(of_node));
  return all;
}

namespace {

/// All are alike, and each thread has a core of its own.
JobNodes describe_simulated_nodes(const SimulatedMachine& machine) {
  JobNodes nodes;
  nodes.node_of_rank = nodes.kernel_of_rank = machine.node_of_rank;
  nodes.facts.resize(static_cast<std::size_t>(machine.nodes));
  for (const int node : machine.node_of_rank) {
    auto& ranks = nodes.facts[static_cast<std::size_t>(node)].ranks;
    ranks.push_back({{static_cast<int>(ranks.size())}});
  }
  if (machine.cores > 0)
    for (NodeFacts& node : nodes.facts) node.most_cores = static_cast<std::size_t>(machine.cores);
  nodes.facts_by_kernel = nodes.facts;
  std::vector<int> all(nodes.facts.size());
  std::iota(all.begin(), all.end(), 0);
  for (const int node : all) nodes.hosts.push_back(fmt::format("n{}", node));
  const std::string numbers = number_ranges(all);
  nodes.machines = {{numbers, machine.identity}};
  nodes.settings = {{numbers, json::object()}};
  json map = json::array();
  for (std::size_t rank = 0; rank < nodes.facts.front().ranks.size(); ++rank) map.push_back(std::to_string(rank));
  nodes.core_maps = {{numbers, map}};
  return nodes;
}

}  // namespace

JobNodes describe_nodes(MPI_Comm comm, const std::function<NodeDescription()>& describe) {
  if (const SimulatedMachine* const simulated = simulated_machine())
    return mpi::rank_in(comm) == 0 ? describe_simulated_nodes(*simulated) : JobNodes{};
  const NodeComms comms(comm);
  const auto units = gather_lists(comms.node.get(), Topology::usable_units());
  JobNodes nodes;
  int number = 0;  // this node's
  std::vector<int> kernel_of_node;
  if (comms.leads) {
    const MPI_Comm leaders = comms.leaders.get();
    number = mpi::rank_in(leaders);
    const NodeDescription mine = describe();
    for (const HostName& host : gather_values(leaders, fixed(mine.host))) nodes.hosts.push_back(text_of(host));
    nodes.machines = with_nodes(kinds(leaders, mine.machine));
    nodes.settings = with_nodes(kinds(leaders, mine.settings));
    nodes.core_maps = with_nodes(kinds(leaders, core_map_of(units)));
    const Kinds kinds_of_facts = kinds(leaders, facts_of(units));
    std::vector<std::string> kernels;
    for (const HostName& kernel : gather_values(leaders, fixed(mine.kernel))) kernels.push_back(text_of(kernel));
    std::vector<json> facts;
    if (number == 0)
      for (const int kind : kinds_of_facts.kind_of_node)
        facts.push_back(kinds_of_facts.values[static_cast<std::size_t>(kind)]);
    for (const json& of_node : facts) nodes.facts.push_back(read_facts({of_node}));
    if (number == 0) std::tie(nodes.facts_by_kernel, kernel_of_node) = by_kernel(kernels, facts);
  }
  FOURSCORE_MPI(MPI_Bcast(&number, 1, MPI_INT, 0, comms.node.get()));
  nodes.node_of_rank = gather_values(comm, number);
  if (mpi::rank_in(comm) == 0)
    for (const int node : nodes.node_of_rank)
      nodes.kernel_of_rank.push_back(kernel_of_node[static_cast<std::size_t>(node)]);
  return nodes;
}

NodeState state_of_this_node() {
  NodeState state;
  std::array<double, 1> load{};
  if (::getloadavg(load.data(), 1) == 1) state.load_1min = load[0];
  std::vector<double> mhz;
  for (const auto& value : values_of("/proc/cpuinfo", "cpu MHz")) mhz.push_back(std::strtod(value.c_str(), nullptr));
  if (!mhz.empty()) {
    state.cpu_mhz = std::accumulate(mhz.begin(), mhz.end(), 0.0) / static_cast<double>(mhz.size());
    state.cpu_mhz_min = std::ranges::min(mhz);
    state.cpu_mhz_max = std::ranges::max(mhz);
  }
  state.temperature_c = temperature_c();
  return state;
}

json state_json(const NodeState& state) {
  json object = json::object();
  for (const auto& [name, quantity] : quantities)
    if (const auto& value = state.*quantity) object[name] = *value;
  return object;
}

json states_of_nodes(MPI_Comm comm, const std::function<NodeState()>& state) {
  if (simulated_machine() != nullptr) return nullptr;
  const NodeComms comms(comm);
  if (!comms.leads) return nullptr;
  const MPI_Comm leaders = comms.leaders.get();
  const NodeState mine = state();
  const auto hosts = gather_values(leaders, fixed(host_name()));
  json summary = json::object();
  for (const auto& [name, quantity] : quantities) {
    const auto values = gather_values(leaders, (mine.*quantity).value_or(std::numeric_limits<double>::quiet_NaN()));
    std::vector<std::pair<double, std::size_t>> known;
    for (std::size_t node = 0; node < values.size(); ++node)
      if (!std::isnan(values[node])) known.emplace_back(values[node], node);
    if (known.empty()) continue;
    std::ranges::sort(known);
    summary[name] = {{"min", known.front().first},
                     {"median", known[known.size() / 2].first},
                     {"max", known.back().first},
                     {"host_of_min", text_of(hosts[known.front().second])},
                     {"host_of_max", text_of(hosts[known.back().second])}};
  }
  return mpi::rank_in(leaders) == 0 ? summary : json();
}

}  // namespace fourscore
