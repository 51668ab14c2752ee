#include "harness/provenance.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

#include "build_info.hpp"
#include "core/record.hpp"
#include "core/sha256.hpp"
#include "core/topology.hpp"
#include "harness/loaded_libraries.hpp"
#include "harness/sampler.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "revision.hpp"

extern char** environ;

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::optional<std::string> first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line) || line.empty()) return std::nullopt;
  return line;
}

/// Values of "key : value" lines of /proc/cpuinfo and its like.
std::vector<std::string> values_of(const fs::path& path, std::string_view key) {
  std::ifstream file(path);
  std::vector<std::string> values;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    if (begin != std::string::npos) values.push_back(line.substr(begin));
  }
  return values;
}

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

std::optional<double> mean_cpu_mhz() {
  const auto values = values_of("/proc/cpuinfo", "cpu MHz");
  if (values.empty()) return std::nullopt;
  double sum = 0;
  for (const auto& value : values) sum += std::strtod(value.c_str(), nullptr);
  return sum / static_cast<double>(values.size());
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

/// By the name that the link holds: read through the link itself, a program under Valgrind would get Valgrind. One that
/// was replaced meanwhile has no name any more.
fs::path own_program() {
  const fs::path link = "/proc/self/exe";
  std::error_code error;
  const fs::path named = fs::read_symlink(link, error);
  return fs::is_regular_file(named, error) ? named : link;
}

json environment_that_matters() {
  constexpr std::array<std::string_view, 14> prefixes{"FOURSCORE_RANKS_PER_NODE",
                                                      "OMP_",
                                                      "GOMP_",
                                                      "KMP_",
                                                      "OMPI_MCA_",
                                                      "PMIX_MCA_",
                                                      "PRTE_MCA_",
                                                      "MPICH_",
                                                      "MPIR_CVAR_",
                                                      "UCX_",
                                                      "FI_",
                                                      "I_MPI_",
                                                      "SLURM_",
                                                      "FFTW"};
  // Slurm keeps a token of the user's in SLURM_JWT; records are made to be passed on.
  constexpr std::array<std::string_view, 5> secrets{"JWT", "TOKEN", "SECRET", "PASSWORD", "_KEY"};
  // What mpirun tells its processes about the job at hand: addresses and numbers, not settings.
  constexpr std::array<std::string_view, 8> of_the_job{"OMPI_MCA_orte_",  "OMPI_MCA_ess_",        "OMPI_MCA_initial_",
                                                       "OMPI_MCA_shmem_", "OMPI_MCA_pmix",        "OMPI_MCA_plm",
                                                       "PMIX_MCA_mca_",   "OMPI_MCA_mca_base_env"};
  json result = json::object();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
    const auto holds = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
    if (std::none_of(prefixes.begin(), prefixes.end(), begins) ||
        std::any_of(of_the_job.begin(), of_the_job.end(), begins) || std::any_of(secrets.begin(), secrets.end(), holds))
      continue;
    result[std::string(name)] = std::string(text.substr(equals + 1));
  }
  return result;
}

std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  FOURSCORE_MPI(MPI_Get_library_version(text.data(), &length));
  std::string line(text.data(), static_cast<std::size_t>(length));
  line = line.substr(0, line.find('\n'));
  std::replace(line.begin(), line.end(), '\t', ' ');
  while (!line.empty() && (line.back() == '\0' || line.back() == ' ')) line.pop_back();
  return line;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string("unknown");
}

/// Index of the node of each rank, nodes numbered by their lowest rank.
std::vector<int> number_nodes(const std::vector<json>& facts) {
  std::map<int, int> number;
  std::vector<int> nodes;
  for (const json& fact : facts)
    nodes.push_back(number.emplace(fact.at("leader").get<int>(), static_cast<int>(number.size())).first->second);
  return nodes;
}

std::vector<NodeFacts> node_facts(const std::vector<json>& facts, const std::vector<int>& node_of_rank) {
  std::vector<NodeFacts> nodes;
  std::vector<std::map<int, double>> caches;
  for (std::size_t rank = 0; rank < facts.size(); ++rank) {
    const auto node = static_cast<std::size_t>(node_of_rank[rank]);
    if (node >= nodes.size()) {
      nodes.resize(node + 1);
      caches.resize(node + 1);
    }
    nodes[node].ranks.push_back({facts[rank].at("cores").get<std::set<int>>()});
    for (const json& cache : facts[rank].at("caches")) caches[node][cache.at(0).get<int>()] = cache.at(1).get<double>();
  }
  for (std::size_t node = 0; node < nodes.size(); ++node)
    for (const auto& [index, bytes] : caches[node]) nodes[node].last_level_cache_bytes += bytes;
  return nodes;
}

bool cuts_a_node(const std::vector<NodeFacts>& nodes, int ranks_per_pretended_node) {
  return std::ranges::any_of(nodes, [&](const NodeFacts& node) {
    return node.ranks.size() > static_cast<std::size_t>(ranks_per_pretended_node);
  });
}

}  // namespace

std::string utc_now() {
  const auto now = std::chrono::system_clock::now();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(now)), ms);
}

double peak_rss_bytes() {
  const auto values = values_of("/proc/self/status", "VmHWM");
  return values.empty() ? 0 : 1024 * std::strtod(values.front().c_str(), nullptr);
}

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
  return machine;
}

json code_identity(const std::string& fftw_version) {
  json code{{"binary_sha256", sha256_file(own_program())},
            {"revision", build_info::revision},
            {"dirty_sha256", build_info::dirty_sha256},
            {"compiler", build_info::compiler},
            {"flags", build_info::flags},
            {"build_type", build_info::build_type},
            {"mpi", mpi_library()},
            {"libraries", libraries_loaded_at_start()}};
  if (!fftw_version.empty()) code["fftw"] = fftw_version;
  if (!build_info::references.empty()) code["references"] = build_info::references;
  return code;
}

json volatile_facts() {
  json facts{{"started_at", utc_now()},
             {"clock_resolution_s", Sampler::clock_resolution_s()},
             {"environment", environment_that_matters()}};
  std::array<double, 1> load{};
  if (::getloadavg(load.data(), 1) == 1) facts["load_1min"] = load[0];
  if (const auto value = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
    facts["governor"] = *value;
  if (const auto value = first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"))
    facts["clock_source"] = *value;
  if (const auto value = mean_cpu_mhz()) facts["cpu_mhz"] = *value;
  if (const auto value = temperature_c()) facts["temperature_c"] = *value;
  if (const auto value = chosen_word("/sys/kernel/mm/transparent_hugepage/enabled")) facts["thp"] = *value;
  utsname system{};
  if (::uname(&system) == 0) facts["kernel"] = system.release;
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"})
    if (const char* value = std::getenv(name)) {
      facts["job_id"] = value;
      break;
    }
  return facts;
}

json hashed_identity(const json& machine, const json& code, const json& launch) {
  json identity{{"machine", machine}, {"code", code}};
  json result{{"machine_hash", short_hash(machine)}, {"code_hash", short_hash(code)}};
  if (!launch.is_null()) {
    identity["launch"] = launch;
    result["launch_hash"] = short_hash(launch);
  }
  result["identity_hash"] = short_hash(identity);
  result["identity"] = std::move(identity);
  return result;
}

std::vector<json> gather_json(MPI_Comm comm, const json& value) {
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  const int rank = mpi::rank_in(comm);
  const auto ranks = static_cast<std::size_t>(mpi::size_of(comm));
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(rank == 0 ? ranks : 0), offsets(lengths.size());
  FOURSCORE_MPI(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, comm));
  int total = 0;
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    offsets[r] = total;
    total += lengths[r];
  }
  std::string all(static_cast<std::size_t>(total), '\0');
  FOURSCORE_MPI(
      MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR, 0, comm));
  std::vector<json> values;
  for (std::size_t r = 0; r < lengths.size(); ++r)
    values.push_back(json::parse(
        std::string_view(all).substr(static_cast<std::size_t>(offsets[r]), static_cast<std::size_t>(lengths[r]))));
  return values;
}

Provenance collect_provenance(MPI_Comm comm, const std::string& launcher, int threads,
                              const std::string& fftw_version) {
  const mpi::Communicator node = mpi::split_by_node(comm);
  int leader = mpi::rank_in(comm);
  FOURSCORE_MPI(MPI_Bcast(&leader, 1, MPI_INT, 0, node.get()));
  const Topology topology;
  const std::vector<int> units = topology.usable_units();
  json mine{{"host", host_name()}, {"leader", leader}, {"units", units}};
  mine["cores"] = topology.cores_of(units);
  mine["caches"] = json::array();
  for (const auto& [index, bytes] : topology.last_level_caches_of(units)) mine["caches"].push_back({index, bytes});
  const std::vector<json> facts = gather_json(comm, mine);

  Provenance provenance;
  if (mpi::rank_in(comm) != 0) return provenance;
  provenance.node_of_rank = number_nodes(facts);
  provenance.nodes = node_facts(facts, provenance.node_of_rank);
  json ranks_per_node = json::array();
  for (const NodeFacts& facts_of_node : provenance.nodes) ranks_per_node.push_back(facts_of_node.ranks.size());
  json hosts = json::array();
  json rank_cores = json::array();
  for (const json& fact : facts) {
    hosts.push_back(fact.at("host"));
    rank_cores.push_back(fact.at("units"));
  }
  json launch{{"launcher", launcher},
              {"nodes", provenance.nodes.size()},
              {"ranks_per_node", ranks_per_node},
              {"rank_cores", rank_cores},
              {"threads", threads}};
  if (const auto most = mpi::ranks_per_pretended_node(); most && cuts_a_node(provenance.nodes, *most)) {
    launch["ranks_per_pretended_node"] = *most;
    provenance.pretends_nodes = true;
  }
  provenance.record = hashed_identity(machine_identity(), code_identity(fftw_version), launch);
  provenance.record["volatile"] = volatile_facts();
  provenance.record["volatile"]["hosts"] = hosts;
  return provenance;
}

}  // namespace fourscore
