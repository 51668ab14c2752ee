#pragma once
// The backend resctrl: memory bandwidth monitoring of the last-level caches, as the kernel's resctrl file system shows
// it (Linux, Documentation/filesystems/resctrl.rst).

#include <filesystem>
#include <functional>
#include <memory>

#include "hwcounters/counter.hpp"

namespace fourscore {

/// Where a resctrl backend looks; tests give others.
struct ResctrlPlaces {
  std::filesystem::path sys = "/sys";  ///< processors and their caches, and fs/resctrl
  std::filesystem::path proc = "/proc";
  std::function<int()> cpu;  ///< the processor on which we are; empty: asks the system
};

[[nodiscard]] std::unique_ptr<CounterBackend> make_resctrl_backend(ResctrlPlaces places = {});

}  // namespace fourscore
