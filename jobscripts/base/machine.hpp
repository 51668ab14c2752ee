#pragma once
// How jobs and launches are made on one cluster or workstation, as its machine file says
// (jobscripts/machines/README.md).

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fourscore {

/// What a machine file says. The default is this machine, without a scheduler.
/// What one node costs; absent: not said.
struct NodeCost {
  std::optional<double> node_hour_price{};
  std::string currency = "EUR";
  std::optional<double> node_watts{};       ///< at work
  std::optional<double> node_idle_watts{};  ///< at rest
};

struct Machine {
  std::filesystem::path file{};  ///< empty: no file
  std::string text{};            ///< its content
  std::string name = "here";
  std::string description{};
  std::string scheduler{};         ///< a name of schedulers/; empty: none
  std::string launcher = "local";  ///< a name of launchers/

  // [nodes]
  int nodes = 1;               ///< how many a job may ask for
  int cores = 0;               ///< per node; 0: not said
  int sockets = 0;             ///< per node; 0: not said
  int gpus = 0;                ///< per node
  double memory_gib = 0;       ///< per node; 0: not said
  std::string interconnect{};  ///< for provenance; empty: as the system shows it

  // [queue]
  std::string partition{}, account{}, qos{}, constraint{};
  double time_limit_s = 3600;             ///< per job
  int most_jobs = 0;                      ///< queued and running at once, of one campaign; 0: any number
  std::vector<std::string> directives{};  ///< further options of the scheduler, as "--exclusive"

  // [environment]
  std::vector<std::string> modules{};
  std::vector<std::pair<std::string, std::string>> environment{};
  std::vector<std::string> setup{};  ///< lines of shell before anything runs

  // [launch]
  std::string mpi{};                          ///< srun's --mpi
  std::vector<std::string> launch_options{};  ///< further options of the launcher
  std::string launch_line{};                  ///< for launcher `template`: "srun -N {nodes} -n {ranks} {program}"
  /// For launcher `template`: what {placement} is for "block", "cyclic" and "socket".
  std::vector<std::pair<std::string, std::string>> placements{};
  std::string rate{};  ///< for launcher `netns`: each host's link, as tc(8) has it: "100mbit"

  std::optional<NodeCost> cost{};  ///< [cost]

  // [files]
  std::string archive{};              ///< default of --archive
  std::vector<std::string> shared{};  ///< folders that all nodes see; empty: not said
};

}  // namespace fourscore
