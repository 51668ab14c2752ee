#pragma once
// Which links of a simulated network were busy in each exchange of a run: the map that a record keeps.

#include <nlohmann/json.hpp>

#include "simulation/backlogs.hpp"

namespace fourscore {

/// [exchange] its seconds, from the first message to the last arrival; for each kind of links, how many there are and
/// how long they were busy, on average and at most; and the busiest links of all. Busy: the part of those seconds that
/// a link needs for its bytes.
[[nodiscard]] nlohmann::json link_loads_json(const Backlogs& backlogs);

}  // namespace fourscore
