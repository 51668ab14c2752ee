#pragma once
// A machine on which the ranks only seem to run: what the harness must know of it. Set once, before the first rank
// starts; where there is none, times are real.

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/phase.hpp"
#include "core/problem.hpp"

namespace fourscore {

struct SimulatedMachine {
  nlohmann::json identity;  ///< the machine's, in place of what this machine's system says
  nlohmann::json hosts;     ///< in this run: how many there are, their extents and order
  std::string platform;     ///< as points name it
  HostOrder host_order = HostOrder::row_major;
  double flops_per_s = 0;                   ///< per thread
  double memory_bandwidth_bytes_per_s = 0;  ///< per thread
  int cores = 0;                            ///< per host; 0: a rank has one thread
  int nodes = 1;
  std::vector<int> node_of_rank;  ///< one for all ranks, which share the process
  /// Lets so many seconds of simulated time pass for the calling thread, and more where the memory of its host is busy:
  /// it has so many bytes to move beside those of others.
  std::function<void(double seconds, double bytes)> work;
  /// From here on the threads of the calling rank tell so what they work on: ThreadStandIn. Empty: nobody.
  std::function<void(std::function<void(Phase, std::int64_t bytes)>)> listen_to_threads;
  /// What the calling rank sends from here on is of this exchange of a run whose link loads are kept; negative: of
  /// none.
  std::function<void(int)> enter_exchange;
  std::function<nlohmann::json()> link_loads;  ///< [exchange] of that run
};

/// Null where the ranks run on real machines.
[[nodiscard]] const SimulatedMachine* simulated_machine();
void simulate_machine(SimulatedMachine machine);

/// What went wrong on a rank before it met the others: told where they never come and the simulation ends in a
/// deadlock.
void note_of_deadlock(const std::string& message);
[[nodiscard]] const std::string& noted_of_deadlock();

}  // namespace fourscore
