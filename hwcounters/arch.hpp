#pragma once
// Which microarchitecture a processor has, in the names of the folders of event groups.

#include <string>
#include <string_view>

namespace fourscore {

/// As microarchitecture() (group.hpp), from the text of a /proc/cpuinfo: its first processor counts.
[[nodiscard]] std::string microarchitecture_of(std::string_view cpuinfo);

}  // namespace fourscore
