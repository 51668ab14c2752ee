#pragma once
// Slurm's lists of hosts.

#include <string>
#include <string_view>
#include <vector>

namespace fourscore::slurm {

/// The hosts of a list such as "n[01-03,7]-ib,login" or "r[1-2]n[0-1]", in its order. Throws InputError with the list
/// where brackets or ranges are wrong, or where it has more than a million hosts.
[[nodiscard]] std::vector<std::string> expand_hosts(std::string_view list);

}  // namespace fourscore::slurm
