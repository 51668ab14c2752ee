#pragma once
// Where a launch runs: how many ranks, on how many nodes, in which order.

#include <mpi.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/problem.hpp"

namespace fourscore::bench {

/// Collective. Sets ranks, nodes and placement_of_ranks of the point as the ranks of comm are. `asked`: what the launch
/// must be, by point key. Throws InputError on all ranks where it is something else: a launch on other nodes than those
/// asked for is no measurement of the point.
void set_launch_place(MPI_Comm comm, const std::map<std::string_view, std::string>& asked, Point& point);

/// Collective; null on all ranks but 0: "ranks", "nodes", "placement_of_ranks", "hosts" by node, and "machines" and
/// "core_maps", in which equal nodes stand together: [{"nodes": "0-3", "value": ...}].
[[nodiscard]] nlohmann::json describe_launch_place(MPI_Comm comm, const Point& place);

}  // namespace fourscore::bench
