#include "program/memory_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "core/memory.hpp"
#include "harness/gather.hpp"
#include "harness/instances.hpp"
#include "harness/round_trip.hpp"
#include "harness/simulated.hpp"
#include "mpi/broadcast.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "program/screen.hpp"

namespace fourscore::bench {
namespace {

using nlohmann::json;

/// The scope with the least memory for each of its ranks, among those that a node's ranks see.
MemoryShare shortest_of(const std::vector<json>& ranks) {
  std::map<std::string, MemoryShare> scopes;
  for (const json& rank : ranks)
    for (const auto& [name, bytes] : rank.items()) {
      auto [entry, is_new] = scopes.try_emplace(name, MemoryShare{name, 0});
      ++entry->second.ranks;
      entry->second.available_bytes = std::min(entry->second.available_bytes, bytes.get<double>());
    }
  MemoryShare shortest;
  for (const auto& [name, scope] : scopes)
    if (scope.available_bytes / scope.ranks < shortest.available_bytes / shortest.ranks) shortest = scope;
  return shortest;
}

double array_bytes(const Problem& problem) {
  double bytes = static_cast<double>(problem.element_bytes()) * problem.fields;
  for (const Index extent : problem.complex_extents()) bytes *= static_cast<double>(extent);
  return bytes;
}

/// Simulated ranks share this machine, whatever hosts they are on. Collective: rank 0 finds out.
MemoryShare memory_of_all_ranks(MPI_Comm comm) {
  MemoryShare share{{}, mpi::size_of(comm)};
  if (mpi::rank_in(comm) == 0)
    for (const MemoryScope& scope : memory_scopes())
      if (scope.available_bytes < share.available_bytes)
        std::tie(share.scope, share.available_bytes) = std::tie(scope.name, scope.available_bytes);
  share.scope = mpi::broadcast_text(comm, 0, share.scope);
  FOURSCORE_MPI(MPI_Bcast(&share.available_bytes, 1, MPI_DOUBLE, 0, comm));
  return share;
}

}  // namespace

/// Each node finds its own, and the nodes compare one number.
MemoryShare shortest_memory(MPI_Comm comm) {
  if (simulated_machine() != nullptr) return memory_of_all_ranks(comm);
  const mpi::Communicator node = mpi::split_by_node(comm);
  json mine = json::object();
  for (const MemoryScope& scope : memory_scopes()) mine[scope.name] = scope.available_bytes;
  MemoryShare share = shortest_of(gather_json(node.get(), mine));
  struct {
    double bytes_of_a_rank;
    int rank;
  } shortest{share.available_bytes / share.ranks, mpi::rank_in(comm)};
  if (mpi::rank_in(node.get()) != 0) shortest.bytes_of_a_rank = std::numeric_limits<double>::infinity();
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &shortest, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm));
  share.scope = mpi::broadcast_text(comm, shortest.rank, share.scope);
  FOURSCORE_MPI(MPI_Bcast(&share.ranks, 1, MPI_INT, shortest.rank, comm));
  FOURSCORE_MPI(MPI_Bcast(&share.available_bytes, 1, MPI_DOUBLE, shortest.rank, comm));
  return share;
}

Reason lacking_memory(const MemoryShare& memory, double bytes_of_a_rank, const std::string& what) {
  const double needed = bytes_of_a_rank * memory.ranks;
  if (needed <= memory.available_bytes) return std::nullopt;
  return fmt::format("not enough memory for {}: {} need{} at least {}, and {} can be had of {}", what,
                     memory.ranks == 1 ? "1 rank" : fmt::format("{} ranks together", memory.ranks),
                     memory.ranks == 1 ? "s" : "", bytes_text(needed), bytes_text(memory.available_bytes),
                     memory.scope);
}

double min_bytes_of_a_rank(const ResolvedPoint& resolved, CheckExtent extent) {
  const Problem& problem = resolved.point.problem;
  const Problem one = one_instance(problem);
  const int last = problem.instances - 1;  // on subsets the smallest
  const auto ranks = static_cast<int>(ranks_of_instance(problem, resolved.point.ranks, last).size());
  const bool two = problem.contract.buffers == Buffers::out_of_place || (resolved.exchange != nullptr && ranks > 1);
  const double plan_bytes = array_bytes(one) * (two ? 2 : 1) / ranks;
  const int plans = problem.placement == Placement::subset ? 1 : problem.instances;
  Problem opposite = one;
  opposite.direction = one.direction == Direction::forward ? Direction::backward : Direction::forward;
  const bool inverted = extent == CheckExtent::all && !goes_back(one.direction) &&
                        !supports_directions(*resolved.variant, opposite, ranks);
  return plan_bytes * (plans * fields_back(one) + (inverted ? 1 : 0));
}

}  // namespace fourscore::bench
