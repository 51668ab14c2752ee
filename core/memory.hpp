#pragma once
// The memory that this process can still have. No MPI here.

#include <filesystem>
#include <string>
#include <vector>

namespace fourscore {

/// Memory that several processes share: that of the machine, or that of a control group (cgroup).
struct MemoryScope {
  std::string name;  ///< "the machine", "cgroup /slurm/job_7"
  double available_bytes = 0;
  bool operator==(const MemoryScope&) const = default;
};

/// The machine first: what the kernel says can be had without swapping. Then each control group of this process, from
/// its own up to the root, that has a limit: the limit less what its processes hold; file caches, which the kernel
/// gives up, are not held. Control groups of version 1 and 2 are read; what cannot be read is left out. `root`: where
/// /proc and /sys are looked for.
[[nodiscard]] std::vector<MemoryScope> memory_scopes(const std::filesystem::path& root = "/");

}  // namespace fourscore
