#include "harness/provenance.hpp"

#include <fmt/format.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

#include "build_info.hpp"
#include "core/record.hpp"
#include "core/sha256.hpp"
#include "core/utc_time.hpp"
#include "harness/environment.hpp"
#include "harness/loaded_libraries.hpp"
#include "harness/sampler.hpp"
#include "harness/simulated.hpp"
#include "harness/system_files.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "source_revision.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Each distinct value beside the numbers of the nodes that have it.
json kinds_json(const std::vector<JobNodes::Kind>& kinds, const char* name) {
  json list = json::array();
  for (const JobNodes::Kind& kind : kinds) list.push_back({{"nodes", kind.nodes}, {name, kind.value}});
  return list;
}

bool cuts_a_node(const std::vector<NodeFacts>& nodes, int ranks_per_pretended_node) {
  return std::ranges::any_of(nodes, [&](const NodeFacts& node) {
    return node.ranks.size() > static_cast<std::size_t>(ranks_per_pretended_node);
  });
}

}  // namespace

fs::path own_program() {
  const fs::path link = "/proc/self/exe";
  std::error_code error;
  const fs::path named = fs::read_symlink(link, error);
  return fs::is_regular_file(named, error) ? named : link;
}

const char* shown_version() { return build_info::shown_version; }

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

namespace {
bool peak_is_known = true;
}

void forget_peak_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);  // what was freed is no memory of what follows
#endif
  // proc(5): the largest resident set so far becomes the present one.
  const int marks = ::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  peak_is_known = marks >= 0 && ::write(marks, "5", 1) == 1;
  if (marks >= 0) ::close(marks);
}

ResidentMemory resident_memory() {
  if (simulated_machine() != nullptr) return {};  // the process has all ranks, and each would read of all
  const auto bytes = [](const char* file, const char* key) {
    const auto values = values_of(file, key);
    return values.empty() ? 0 : 1024 * std::strtod(values.front().c_str(), nullptr);
  };
  constexpr const char* mapped = "/proc/self/smaps_rollup";
  return {peak_is_known ? bytes("/proc/self/status", "VmHWM") : 0,
          bytes(mapped, "AnonHugePages") + bytes(mapped, "ShmemPmdMapped")};
}

json code_identity(const LocalLibraries& local) {
  json code{{"binary_sha256", sha256_file(own_program())},
            {"revision", build_info::revision},
            {"dirty_sha256", build_info::dirty_sha256},
            {"compiler", build_info::compiler},
            {"flags", build_info::flags},
            {"build_type", build_info::build_type},
            {"mpi", mpi_library()},
            {"libraries", libraries_loaded_at_start()}};
  code["libraries"].update(local.loaded_later);
  if (!local.fftw.empty()) code["fftw"] = local.fftw;
  if (!build_info::references.empty()) code["references"] = build_info::references;
  return code;
}

json volatile_facts() {
  json facts{{"started_at", now_utc()},
             {"clock_resolution_s", Sampler::clock_resolution_s()},
             {"environment", environment_that_matters()}};
  facts.update(node_settings());
  facts.update(state_json(state_of_this_node()));
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"})
    if (const char* value = std::getenv(name)) {
      facts["job_id"] = value;
      break;
    }
  return facts;
}

json hashed_identity(const json& machine, const json& code, const json& launch, const json& other_machines) {
  json identity{{"machine", machine}, {"code", code}};
  if (!other_machines.empty()) identity["other_machines"] = other_machines;
  json result{{"machine_hash", short_hash(machine)}, {"code_hash", short_hash(code)}};
  if (!launch.is_null()) {
    identity["launch"] = launch;
    result["launch_hash"] = short_hash(launch);
  }
  result["identity_hash"] = short_hash(identity);
  result["identity"] = std::move(identity);
  return result;
}

Provenance provenance_of(JobNodes described, const json& states, const std::string& launcher, int threads,
                         const LocalLibraries& local) {
  Provenance provenance;
  provenance.nodes = std::move(described);
  const JobNodes& nodes = provenance.nodes;
  const auto is_told = [](const JobNodes::Kind& kind) { return kind.value.contains("described_by"); };
  provenance.emulated = nodes.share_a_kernel() || std::ranges::any_of(nodes.machines, is_told);
  json launch{{"launcher", launcher},
              {"nodes", nodes.hosts.size()},
              {"placement_of_ranks", nodes.placement()},
              {"core_maps", kinds_json(nodes.core_maps, "cores")},
              {"threads", threads}};
  if (simulated_machine() != nullptr) launch["simulated_hosts"] = simulated_machine()->hosts;
  if (const auto most = mpi::ranks_per_pretended_node(); most && cuts_a_node(nodes.facts, *most)) {
    launch["ranks_per_pretended_node"] = *most;
    provenance.emulated = true;
  }
  json others = json::object();
  for (std::size_t i = 1; i < nodes.machines.size(); ++i) others[nodes.machines[i].nodes] = nodes.machines[i].value;
  provenance.record = hashed_identity(nodes.machines.front().value, code_identity(local), launch, others);
  json& now = provenance.record["volatile"] = volatile_facts();
  now["hosts"] = nodes.hosts;
  if (simulated_machine() != nullptr) now.erase("clock_source");
  if (nodes.hosts.size() > 1 && !states.is_null()) {
    now["settings_of_nodes"] = kinds_json(nodes.settings, "settings");
    now["nodes_before"] = states;
  }
  return provenance;
}

Provenance collect_provenance(MPI_Comm comm, const std::string& launcher, int threads, const LocalLibraries& local) {
  JobNodes nodes = describe_nodes(comm);
  const json states = states_of_nodes(comm);
  if (mpi::rank_in(comm) != 0) return {};
  return provenance_of(std::move(nodes), states, launcher, threads, local);
}

void add_states_after(MPI_Comm comm, Provenance& provenance) {
  const json states = states_of_nodes(comm);
  if (mpi::rank_in(comm) != 0) return;
  if (states.contains("load_1min")) provenance.record["volatile"]["load_1min_after"] = states["load_1min"]["max"];
  if (provenance.nodes.hosts.size() > 1 && !states.is_null()) provenance.record["volatile"]["nodes_after"] = states;
}

}  // namespace fourscore
