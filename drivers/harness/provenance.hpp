#pragma once
// Where, by what and how a record was made (results/README.md). What cannot be found out is absent, never 0.

#include <mpi.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/nodes.hpp"

namespace fourscore {

/// The libraries of local transforms, as far as they are part of the code's identity.
struct LocalLibraries {
  std::string fftw{};  ///< FFTW's version; left out where it is empty
  /// The shared libraries of those that open them when they are used, as libraries_loaded_at_start() has them.
  std::map<std::string, std::string> loaded_later{};
};

/// The file of this program, by the name that the link /proc/self/exe holds: read through the link itself, a program
/// under Valgrind would get Valgrind. The link, where the program was replaced meanwhile and has no name any more.
[[nodiscard]] std::filesystem::path own_program();
/// "0.1.0 (841eb28d1c2e, 2026-11-27)": the version, and where they are known the revision and its day.
[[nodiscard]] const char* shown_version();
/// Name and version of the MPI that this program is linked with, in one line. May be called before MPI_Init.
[[nodiscard]] std::string mpi_library();

/// Binary, sources, compiler, libraries and their builds. May be called before MPI_Init.
[[nodiscard]] nlohmann::json code_identity(const LocalLibraries& local);
/// What may change from run to run and is never hashed, of this process; collect_provenance adds the other nodes.
[[nodiscard]] nlohmann::json volatile_facts();
/// {"machine_hash", "code_hash", "launch_hash", "identity_hash", "identity"}; without a launch, of the other two only.
/// `other_machines`: of nodes that differ from node 0, by their numbers; they count in identity_hash.
[[nodiscard]] nlohmann::json hashed_identity(const nlohmann::json& machine, const nlohmann::json& code,
                                             const nlohmann::json& launch = nullptr,
                                             const nlohmann::json& other_machines = nlohmann::json::object());

struct Provenance {
  nlohmann::json record;  ///< the record's "provenance"; null on all ranks but 0
  JobNodes nodes;         ///< on rank 0
  /// On rank 0: some nodes are one machine, FOURSCORE_RANKS_PER_NODE cuts a node into several, or hwloc was told of
  /// another machine than one that is there (Topology::described_by).
  bool emulated = false;
};
/// Collective.
[[nodiscard]] Provenance collect_provenance(MPI_Comm comm, const std::string& launcher, int threads,
                                            const LocalLibraries& local);
/// The part of rank 0: of nodes and their states_of_nodes() before the run.
[[nodiscard]] Provenance provenance_of(JobNodes nodes, const nlohmann::json& states, const std::string& launcher,
                                       int threads, const LocalLibraries& local);
/// Collective, when all is measured: load and frequencies once more.
void add_states_after(MPI_Comm comm, Provenance& provenance);

/// The memory of this process; 0 where the system does not say.
struct ResidentMemory {
  double peak_bytes = 0;  ///< the largest resident set so far
  double huge_bytes = 0;  ///< mapped in huge pages now, what it shares with others too
};
[[nodiscard]] ResidentMemory resident_memory();
/// From here on the peak is that of what follows; where the system cannot forget it, it is 0.
void forget_peak_memory();

}  // namespace fourscore
