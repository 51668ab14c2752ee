#pragma once
// The performance monitoring units that the kernel shows under /sys/bus/event_source/devices, and how their events are
// encoded (Linux, Documentation/ABI/testing/sysfs-bus-event_source-devices-*).

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fourscore {

/// Where the bits of a term go: perf_event_attr's config, config1 or config2, lowest bit first.
struct BitField {
  std::size_t word = 0;
  std::vector<unsigned> bits;
};

/// What perf_event_open takes to count one event in one unit.
struct PmuEncoding {
  std::uint32_t type = 0;
  std::uint64_t config[3] = {0, 0, 0};
  double scale = 1.0;  ///< a count times this is in the event's unit; binary byte units are turned into bytes
};

/// One unit, as a folder of sysfs describes it.
struct PmuUnit {
  std::string name;
  std::filesystem::path folder;
  std::uint32_t type = 0;
  bool uncore = false;    ///< counts for all cores near it: opened by processor, not by process
  std::vector<int> cpus;  ///< for an uncore unit: the processors on which it is opened, one for each socket or cache
  std::map<std::string, BitField> format;
  std::vector<std::string> events;  ///< that the kernel names

  /// From "event=0x04,umask=0x03", or (where `named`) a name of `events`. Throws CounterRequestError for an unknown
  /// term, naming the nearest, and for a value that does not fit.
  [[nodiscard]] PmuEncoding encode(std::string_view terms, bool named = true) const;
};

/// "0-3,8" as numbers. Throws std::invalid_argument.
[[nodiscard]] std::vector<int> parse_cpu_list(std::string_view text);

class SysfsPmus {
 public:
  /// `root` holds bus/event_source/devices and devices/system/cpu: "/sys" outside of tests.
  explicit SysfsPmus(std::filesystem::path root) : root_(std::move(root)) {}

  [[nodiscard]] std::vector<std::string> names() const;
  /// The unit of this name, or the boxes of a unit that has several (name_0, name_1, ...), by number. Throws
  /// CounterError naming the nearest where there is none, or where the kernel's files cannot be understood.
  [[nodiscard]] std::vector<PmuUnit> find(const std::string& name) const;
  /// Whether the processor itself has counters that the kernel can use.
  [[nodiscard]] bool has_core_counters() const;
  /// The number of the socket in which `cpu` is; -1 where the kernel does not tell.
  [[nodiscard]] int socket_of(int cpu) const;

 private:
  [[nodiscard]] PmuUnit read_unit(const std::string& name) const;
  std::filesystem::path root_;
};

}  // namespace fourscore
