#pragma once
// Where, by what and how a record was made (results/README.md). What cannot be found out is absent, never 0.

#include <mpi.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/flags.hpp"

namespace fourscore {

/// Processor, cores, caches, memory (to the nearest GiB: kernels differ in what they keep), GPUs. Calls no MPI.
[[nodiscard]] nlohmann::json machine_identity();
/// Binary, sources, compiler, libraries and their builds. May be called before MPI_Init. An empty fftw_version is left
/// out.
[[nodiscard]] nlohmann::json code_identity(const std::string& fftw_version);
/// What may change from run to run and is never hashed, of this process; hosts are added by collect_provenance.
[[nodiscard]] nlohmann::json volatile_facts();
/// {"machine_hash", "code_hash", "launch_hash", "identity_hash", "identity"}; without a launch, of the other two only.
[[nodiscard]] nlohmann::json hashed_identity(const nlohmann::json& machine, const nlohmann::json& code,
                                             const nlohmann::json& launch = nullptr);

struct Provenance {
  nlohmann::json record;          ///< the record's "provenance"; null on all ranks but 0
  std::vector<NodeFacts> nodes;   ///< without plan_bytes; on rank 0
  std::vector<int> node_of_rank;  ///< on rank 0
  bool pretends_nodes = false;    ///< on rank 0: FOURSCORE_RANKS_PER_NODE cuts a node of the machine into several
};
/// Collective: gathers hosts and rank-to-core maps to rank 0.
[[nodiscard]] Provenance collect_provenance(MPI_Comm comm, const std::string& launcher, int threads,
                                            const std::string& fftw_version);

/// Collective: each rank's value to rank 0, in rank order; empty elsewhere.
[[nodiscard]] std::vector<nlohmann::json> gather_json(MPI_Comm comm, const nlohmann::json& value);

/// Largest resident set of this process so far, or 0 where the system does not say.
[[nodiscard]] double peak_rss_bytes();

/// 2026-11-21T08:00:00.123Z
[[nodiscard]] std::string utc_now();

}  // namespace fourscore
