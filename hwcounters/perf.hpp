#pragma once
// The backend perf: perf_event_open(2), with the encodings that the kernel shows in sysfs.

#include <linux/perf_event.h>
#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <memory>

#include "hwcounters/counter.hpp"

namespace fourscore {

/// The system calls that it makes; tests give others. Results below 0 are -errno.
class PerfKernel {
 public:
  virtual ~PerfKernel() = default;
  virtual int open(const perf_event_attr& attributes, pid_t pid, int cpu) noexcept;
  virtual long enable(int descriptor) noexcept;
  virtual long disable(int descriptor) noexcept;
  virtual long read(int descriptor, void* buffer, std::size_t bytes) noexcept;
  virtual void close(int descriptor) noexcept;
};

/// Where a perf backend looks.
struct PerfPlaces {
  std::filesystem::path sys = "/sys";
  std::filesystem::path proc = "/proc";
  std::shared_ptr<PerfKernel> kernel = std::make_shared<PerfKernel>();
  std::function<int()> cpu;  ///< the processor on which we are; empty: asks the system
};

[[nodiscard]] std::unique_ptr<CounterBackend> make_perf_backend(PerfPlaces places = {});

}  // namespace fourscore
