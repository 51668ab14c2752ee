#include "program/launch_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/point_keys.hpp"
#include "core/text.hpp"
#include "harness/nodes.hpp"
#include "harness/provenance.hpp"
#include "harness/simulated.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore::bench {
namespace {

struct Observed {
  int nodes = 1;
  bool block = false;   ///< the ranks of each node follow each other
  bool cyclic = false;  ///< rank r is on node r mod nodes
};

/// The simulation knows where it put the ranks.
Observed observe(const SimulatedMachine& machine) {
  return {machine.nodes, std::ranges::is_sorted(machine.node_of_rank), false};
}

/// Nodes are numbered by their lowest rank. log2(ranks) steps, and no table over ranks.
Observed observe(MPI_Comm comm) {
  const mpi::Communicator node = mpi::split_by_node(comm);
  const bool leads = mpi::rank_in(node.get()) == 0;
  const int rank = mpi::rank_in(comm);
  int leaders_before = 0;  // MPI leaves it alone on rank 0
  const int one = leads ? 1 : 0;
  FOURSCORE_MPI(MPI_Exscan(&one, &leaders_before, 1, MPI_INT, MPI_SUM, comm));
  int number = rank == 0 ? 0 : leaders_before;
  FOURSCORE_MPI(MPI_Bcast(&number, 1, MPI_INT, 0, node.get()));
  int nodes = one;
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &nodes, 1, MPI_INT, MPI_SUM, comm));
  int highest_before = 0;
  FOURSCORE_MPI(MPI_Exscan(&number, &highest_before, 1, MPI_INT, MPI_MAX, comm));
  std::array<int, 2> holds{rank == 0 || highest_before <= number ? 1 : 0, number == rank % nodes ? 1 : 0};
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, holds.data(), 2, MPI_INT, MPI_MIN, comm));
  return {nodes, holds[0] == 1, holds[1] == 1};
}

/// Processes that were started together and do not know of each other are a world of one rank each.
std::string likely_cause(const Point& wanted, const Point& found) {
  if (wanted.ranks == found.ranks || found.ranks > 1) return "expected as asked; the time would be another point's";
  const std::string library = mpi_library();
  return fmt::format(
      "each process is alone, so the launcher is of another MPI than this program's ({}), or starts it without process "
      "management (as srun without --mpi=pmix or --mpi=pmi2)",
      library.substr(0, library.find(',')));
}

}  // namespace

void set_launch_place(MPI_Comm comm, const std::map<std::string_view, std::string>& asked, Point& point) {
  const SimulatedMachine* const simulated = simulated_machine();
  const Observed observed = simulated != nullptr ? observe(*simulated) : observe(comm);
  if (simulated != nullptr) {
    point.platform = simulated->platform;
    point.host_order = simulated->host_order;
  }
  point.ranks = mpi::size_of(comm);
  point.nodes = observed.nodes;
  // Which rank is on which socket stands in the map of cores; here only nodes are seen.
  const auto said = asked.find("placement_of_ranks");
  const bool sockets = observed.block && said != asked.end() && said->second == to_string(RankPlacement::socket);
  point.placement_of_ranks = sockets           ? RankPlacement::socket
                             : observed.block  ? RankPlacement::block
                             : observed.cyclic ? RankPlacement::cyclic
                                               : RankPlacement::irregular;
  for (const auto& [name, text] : asked) {
    Point wanted = point;
    const PointKey& key = *find_point_key(name);
    key.set(wanted, text, key.option);
    normalise_placement(wanted);
    if (key.get(wanted) != key.get(point))
      throw InputError(fmt::format("{} {}, but the launcher started {} on {}, {}: {}", key.option, text,
                                   plural(point.ranks, "rank"), plural(point.nodes, "node"),
                                   to_string(point.placement_of_ranks), likely_cause(wanted, point)));
  }
}

nlohmann::json describe_launch_place(MPI_Comm comm, const Point& place) {
  const JobNodes nodes = describe_nodes(comm);
  if (mpi::rank_in(comm) != 0) return nullptr;
  const auto kinds_json = [](const std::vector<JobNodes::Kind>& kinds) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& kind : kinds) list.push_back({{"nodes", kind.nodes}, {"value", kind.value}});
    return list;
  };
  return {{"ranks", place.ranks},
          {"nodes", place.nodes},
          {"placement_of_ranks", to_string(place.placement_of_ranks)},
          {"hosts", nodes.hosts},
          {"machines", kinds_json(nodes.machines)},
          {"core_maps", kinds_json(nodes.core_maps)}};
}

}  // namespace fourscore::bench
