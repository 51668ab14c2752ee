#pragma once
// A simulated machine as its file says it (jobscripts/platforms): network, hosts and what a message costs a rank. Every
// quantity has its unit in its key.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "simulation/topology.hpp"

namespace fourscore {

struct Platform {
  std::string name;     ///< stem of its file
  std::string summary;  ///< one line
  std::string source;   ///< where the numbers are from
  NetworkShape network;
  bool stores_and_forwards = false;  ///< a message is on one link at a time, whole; else on all of its way at once
  int dimensions = 0;                ///< extents = "auto": of a torus or mesh of as many hosts as are asked for
  double link_bandwidth_bytes_per_s = 0;
  double link_latency_s = 0;
  double injection_bandwidth_bytes_per_s = 0;    ///< from a host into its network and out; 0: its links alone limit it
  double flops_per_s = 0;                        ///< per thread
  double memory_bandwidth_bytes_per_s = 0;       ///< per thread
  double host_memory_bandwidth_bytes_per_s = 0;  ///< per host, for all its threads; 0: each thread alone is limited
  int cores = 0;                                 ///< per host; 0: a rank has one thread
  double barrier_s_per_thread = 0;               ///< a barrier of a rank's threads, for each of them
  double hand_over_s = 0;                        ///< for what one thread takes over from another
  double send_overhead_s = 0, receive_overhead_s = 0;  ///< a thread's own time for each message
  double put_overhead_s = 0;                           ///< and for each one-sided message
  int eager_limit_bytes = 0;                           ///< a longer message waits for its receiver
  nlohmann::json content;                              ///< the file's content, for the machine's identity
};

/// Throws InputError with file, line and key where it cannot be used.
[[nodiscard]] Platform read_platform(const std::filesystem::path& file);
/// A name in the folder of platforms, or the path of a file. Throws InputError naming those that there are.
[[nodiscard]] std::filesystem::path find_platform(const std::string& name);
/// The platform with a network for at least `hosts` hosts: as many where its file leaves that open. Throws InputError
/// where it has fewer.
[[nodiscard]] Platform fitted(Platform platform, int hosts);

}  // namespace fourscore
