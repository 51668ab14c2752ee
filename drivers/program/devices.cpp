#include "program/devices.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/gather.hpp"
#include "harness/instances.hpp"
#include "harness/numa_distance.hpp"

namespace fourscore::bench {

using nlohmann::json;

namespace {

void add_kind(json& kinds, json kind) {
  const auto same = std::ranges::find_if(kinds, [&](const json& other) { return other["device"] == kind["device"]; });
  if (same != kinds.end())
    (*same)["ranks"] = (*same)["ranks"].get<int>() + kind["ranks"].get<int>();
  else
    kinds.push_back(std::move(kind));
}

}  // namespace

/// Each node finds its own kinds, and the nodes compare them.
json describe_devices(MPI_Comm comm, const ResolvedPoint& resolved) {
  const Problem problem = one_instance(resolved.point.problem);
  const DeviceUse* const use = resolved.variant->device_use(problem);
  json kinds = json::array();
  if (use == nullptr) return kinds;
  json mine = use->describe(problem, comm);
  json kind{{"ranks", 1}, {"state", std::move(mine["state"])}};
  mine.erase("state");
  if (const auto distance = numa_distance(mine["identity"].value("numa_node", -1))) mine["numa_distance"] = *distance;
  kind["device"] = std::move(mine);
  const mpi::Communicator node = mpi::split_by_node(comm);
  for (json& one : gather_json(node.get(), kind)) add_kind(kinds, std::move(one));
  const bool speaks = mpi::rank_in(node.get()) == 0;
  const mpi::Communicator speakers = mpi::split(comm, speaks ? 0 : MPI_UNDEFINED, mpi::rank_in(comm));
  if (!speaks) return json::array();
  json all = json::array();
  for (json& of_node : gather_json(speakers.get(), kinds))
    for (json& one : of_node) add_kind(all, std::move(one));
  return all;
}

void add_devices(json& record, json before, const json& after) {
  if (before.empty() || !record.contains("resolved")) return;
  for (std::size_t i = 0; i < before.size(); ++i) {
    before[i]["state_before"] = std::move(before[i]["state"]);
    before[i].erase("state");
    if (i < after.size()) before[i]["state_after"] = after[i]["state"];
  }
  record["resolved"]["devices"] = std::move(before);
}

}  // namespace fourscore::bench
