#pragma once
// Events in the words of `perf` and of group files, and what perf_event_open takes for them.

#include <string>
#include <vector>

#include "hwcounters/sysfs_pmu.hpp"

namespace fourscore {

/// One event, resolved on one machine. An event of several boxes has a counter in each of them.
struct PerfEvent {
  std::string code;
  bool uncore = false;     ///< counts for a socket, whoever caused it
  bool software = false;   ///< kept by the kernel, no hardware counter
  bool user_only = false;  ///< not what happens in the kernel
  struct Counter {
    std::string unit;
    PmuEncoding encoding;
    int cpu = -1;  ///< for an uncore unit: where it is opened
  };
  std::vector<Counter> counters;
};

/// `code` is one of
///   instructions, cycles, cache-misses, ...   what the kernel names for every processor
///   task-clock, page-faults, ...              what the kernel keeps itself
///   r1b7                                      a raw event of the processor, hexadecimal
///   unit/event=0x04,umask=0x03/               terms of sysfs' format of the unit
///   unit/cas_count_read/                      an event that the kernel names in sysfs
/// with :u, or u after the last slash, for user mode only. Uncore units are taken in the socket of `cpu`. Throws
/// CounterRequestError for what cannot be meant, naming the nearest, and CounterError for a unit that is not here.
[[nodiscard]] PerfEvent resolve_perf_event(const std::string& code, const SysfsPmus& pmus, int cpu);

}  // namespace fourscore
