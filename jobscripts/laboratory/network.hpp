#pragma once
// The network of a laboratory: a bridge, and from each host a link to it.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "jobscripts/base/rate.hpp"

namespace fourscore {

/// Why links cannot be made here: the programs that make them are missing. Empty when they are there.
[[nodiscard]] std::string links_unavailable();

/// Joins the network namespaces of this process and of `hosts` (processes, h1 first). Each has its interface eth0.
/// Throws EnvironmentError with the words of ip(8) or tc(8).
void join_by_links(const std::vector<pid_t>& hosts, const std::optional<TokenBucket>& bucket);

/// Lines of /etc/hosts.
[[nodiscard]] std::string addresses_of_hosts(int hosts);

/// The host that this process is until join_by_links returns, and then the command's.
inline constexpr const char* front_name = "front";
inline constexpr const char* interface_name = "eth0";

}  // namespace fourscore
