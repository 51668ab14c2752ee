#pragma once
// Backend `likwid`: the calls that it makes of liblikwid, so that a test can put its own in their place, and what it
// looks at first, because the library ends the process where it finds no access.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hwcounters/counter.hpp"
#include "hwcounters/process_sockets.hpp"

namespace fourscore {

/// LIKWID's access modes.
enum class LikwidAccess : int { perf_event = -1, direct = 0, daemon = 1 };

struct LikwidProcessor {
  std::string name;        ///< as LIKWID calls it
  std::string short_name;  ///< names its folder of performance groups; empty or "unknown": LIKWID does not know it
  std::uint32_t family = 0;
  std::uint32_t model = 0;
};

/// Named after the functions of liblikwid. Those that return int return 0 or more where all went well.
struct LikwidCalls {
  std::function<int()> init_configuration;  ///< without ending the process where there is no access daemon
  std::function<LikwidAccess()> configured_access;
  std::function<void(LikwidAccess)> set_access;  ///< HPMmode
  std::function<int()> topology_init;
  std::function<LikwidProcessor()> processor;
  std::function<int(const std::vector<int>& cpus)> perfmon_init;
  std::function<int(const std::string& events)> add_event_set;  ///< the group's number
  std::function<int(int group)> events_in_group;
  std::function<std::vector<std::string>(int group)> metrics_of_group;
  std::function<int(int group)> setup_counters;
  std::function<int()> start_counters;
  std::function<int()> read_counters;
  std::function<int()> stop_counters;
  std::function<bool(int group, int event)> is_configured;  ///< before the first start
  std::function<double(int group, int event, int thread)> last_result;
  std::function<double(int group, int metric, int thread)> last_metric;
  std::function<void()> finalize;
  std::function<void()> marker_init;
  std::function<int(const char* region)> marker_register;
  std::function<int(const char* region)> marker_start;
  std::function<int(const char* region)> marker_stop;
  std::function<void()> marker_close;
};

/// What likwid-perfctr -m leaves for the program it starts (environment variables), or a test.
struct LikwidSurroundings {
  std::filesystem::path root = "/";           ///< below which dev/cpu/N/msr and the access daemon are
  std::vector<std::filesystem::path> path{};  ///< where programs are looked for
  bool marker = false;                        ///< started by likwid-perfctr -m or likwid-mpirun -marker
};
[[nodiscard]] LikwidSurroundings likwid_surroundings();

/// Whether the registers can be reached, and how. Throws CounterError that says what to do.
[[nodiscard]] LikwidAccess likwid_access(const LikwidSurroundings& surroundings, const std::vector<int>& cpus);

/// The library that this program was built with; empty where there is none.
[[nodiscard]] std::string likwid_file();
/// The calls of the library in `file`; the first call opens it, and throws CounterError where that is no such library.
/// Empty functions where the program was built without LIKWID.
[[nodiscard]] LikwidCalls likwid_library(const std::string& file);

/// The backend with these calls; `why_not` where there are none.
[[nodiscard]] std::unique_ptr<CounterBackend> make_likwid_backend(LikwidCalls calls, std::string why_not,
                                                                  std::function<LikwidSurroundings()> surroundings,
                                                                  std::function<ProcessSockets()> sockets);

}  // namespace fourscore
