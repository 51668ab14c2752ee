#pragma once
// What `fourscore machine check` finds: asked on each node by launching this program, and by a launch under MPI.
//
// The folder of a check holds
//   NAME.toml      the machine file
//   request.json   what the nodes are to look for
//   found.json     what they found
//   job.sh, job.log    with a scheduler

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "jobscripts/base/folder_mark.hpp"
#include "jobscripts/machines/place.hpp"

namespace fourscore {

struct ProbeRequest {
  std::filesystem::path machine_file;  ///< empty: this machine
  std::filesystem::path bench;         ///< the fft_bench to launch
  std::string mpirun;
  int nodes = 1;                  ///< to launch on, with one rank each; on one node two ranks
  std::vector<FolderMark> marks;  ///< folders that all nodes must see
};

/// Throws EnvironmentError where it cannot be written or read.
void write_probe_request(const ProbeRequest& request, const std::filesystem::path& folder);
[[nodiscard]] ProbeRequest read_probe_request(const std::filesystem::path& folder);

/// What the node on which it runs says of itself, without MPI: {"host", "cores", "sockets", "memory_gib", "gpus",
/// "interconnect", "code_hash", "unseen": folders, "problem"}. A node that does not see `folder` says that alone.
[[nodiscard]] nlohmann::json look_at_node(const std::filesystem::path& folder);

/// Launches what it asks of each node and the MPI program that says where its ranks are: {"job", "job_hosts",
/// "modules", "environment", "nodes": as look_at_node(), "look": {"command", "problem"}, "launch": {"command",
/// "problem", "place"}}.
[[nodiscard]] nlohmann::json probe_machine(const Place& place, const ProbeRequest& request,
                                           const std::filesystem::path& folder);

}  // namespace fourscore
