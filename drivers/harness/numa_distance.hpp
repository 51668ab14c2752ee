#pragma once
// How far a device's memory domain is from where this thread runs.

#include <filesystem>
#include <optional>

namespace fourscore {

/// By the firmware's table: 10 within a domain, more the farther. `node`: the device's domain; -1: unknown. Nothing:
/// the kernel does not say. `folder` has node0, node1 ...
[[nodiscard]] std::optional<int> numa_distance(int node,
                                               const std::filesystem::path& folder = "/sys/devices/system/node");
/// The distance from the domain `from`.
[[nodiscard]] std::optional<int> numa_distance_between(int from, int to, const std::filesystem::path& folder);

}  // namespace fourscore
