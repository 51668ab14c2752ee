#pragma once
// Event groups: data files that say which events answer a question on one microarchitecture, and how.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hwcounters/counter.hpp"

namespace fourscore {

/// A value computed from events.
struct Metric {
  std::string name;     ///< "dram_read_bytes": the unit stands in the name
  std::string unit;     ///< one of metric_units()
  std::string formula;  ///< over the group's events and the backend's constants: + - * / ( ) numbers and names
};

/// One file, groups/<arch>/<NAME>.toml.
struct Group {
  std::string name;         ///< "MEM", the file's name
  std::string arch;         ///< "amd-zen4", the folder's name
  std::string backend;      ///< the one its event codes are of
  std::string description;  ///< one line
  std::string explanation;  ///< what is counted, what is not, and where that is documented
  std::filesystem::path file;
  std::vector<EventSpec> events;
  std::vector<Metric> metrics;
  double update_s = 0;  ///< how often the counters move; 0: with every event
};

/// bytes, flops, instructions, cycles, misses, accesses, events, ns, J.
[[nodiscard]] const std::vector<std::string>& metric_units();

/// Reads and checks the part of one file that is for `backend` (a table of its name). Throws CounterRequestError
/// "file:line: ...": an unknown key, a unit that is none, a formula that does not parse or uses a name that is neither
/// an event nor one of `constants`, an event that no formula uses, no table for the backend.
[[nodiscard]] Group load_group(const std::filesystem::path& file, const std::string& backend,
                               const std::map<std::string, double>& constants = {});

/// Where the folders of groups are: what the request names, else the environment's FOURSCORE_GROUPS, else what is
/// installed beside the program, else the source tree. Throws CounterRequestError where a named folder is none.
[[nodiscard]] std::filesystem::path groups_folder(const CounterRequest& request);

/// The group a request means on a machine of this microarchitecture; its own folder before "any". Throws
/// CounterRequestError naming the nearest group there is for the backend.
[[nodiscard]] Group find_group(const CounterBackend& backend, const CounterRequest& request, const std::string& arch);
/// The same on this machine (microarchitecture()).
[[nodiscard]] Group find_group(const CounterBackend& backend, const CounterRequest& request);

/// Metrics in the group's order from event counts in its order; absent where an event they need is absent.
[[nodiscard]] std::vector<EventCount> evaluate(const Group& group, const std::vector<EventCount>& counts,
                                               const std::map<std::string, double>& constants);

/// "amd-zen4", "intel-skylake-sp", "arm-neoverse-n1"; "unknown" where the processor is none that is known here.
[[nodiscard]] std::string microarchitecture();

}  // namespace fourscore
