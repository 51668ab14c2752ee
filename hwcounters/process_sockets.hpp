#pragma once
// The sockets where this process may run, and their processors: what is counted for a socket is asked of one.

#include <filesystem>
#include <vector>

namespace fourscore {

struct ProcessSockets {
  std::vector<int> cpus;                  ///< logical processors that this thread may run on
  std::vector<std::vector<int>> sockets;  ///< all online processors of each socket that has one of `cpus`
  bool everywhere = false;                ///< it may run on every processor of the machine
};

/// Read from <root>/devices/system/cpu. A processor whose socket is not said counts as of socket 0.
[[nodiscard]] ProcessSockets process_sockets(const std::filesystem::path& root = "/sys");

/// The same for processors that are given.
[[nodiscard]] ProcessSockets sockets_of(const std::vector<int>& cpus, const std::filesystem::path& root = "/sys");

}  // namespace fourscore
