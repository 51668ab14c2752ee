#pragma once
// The networks between nodes, as the system of one node shows them.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace fourscore {

/// Array of texts: one for each kind of link that is up, as "InfiniBand 200 Gb/sec (4X HDR), mlx5" or "Ethernet 10000
/// Mbit/s, ixgbe", with "2 x " before it where a node has two. Names and addresses of devices are left out, because
/// nodes of one kind differ in them. What FOURSCORE_INTERCONNECT says stands in place of all that: where links are
/// limited, only who limits them knows. `system`: where sysfs is.
[[nodiscard]] nlohmann::json interconnect_identity(const std::filesystem::path& system = "/sys");

}  // namespace fourscore
