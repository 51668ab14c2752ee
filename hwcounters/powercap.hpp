#pragma once
// The backend powercap: joules of the packages and their DRAM, as the kernel's powercap tree shows RAPL (Linux,
// Documentation/power/powercap/powercap.rst). AMD's processors are there under the same names.

#include <filesystem>
#include <functional>
#include <memory>

#include "hwcounters/counter.hpp"

namespace fourscore {

/// Where a powercap backend looks; tests give others.
struct PowercapPlaces {
  /// Holds a folder intel-rapl:* for each zone. Empty: FOURSCORE_POWERCAP, else /sys/class/powercap.
  std::filesystem::path powercap{};
  std::function<int(const char* file)> open{};  ///< a descriptor, or -errno; empty: asks the system
};

[[nodiscard]] std::unique_ptr<CounterBackend> make_powercap_backend(PowercapPlaces places = {});

}  // namespace fourscore
