#pragma once
// Timelines in the Chrome trace format, which Perfetto (ui.perfetto.dev) and chrome://tracing open.

#include <nlohmann/json.hpp>
#include <vector>

namespace fourscore {

/// {"traceEvents": [...]}: a complete event ("ph": "X", times in microseconds) for each stretch, in which pid is the
/// rank, tid the lane, name the phase; metadata events name both. Records without a timeline are left out. Each of
/// several records starts at 0, and its pids follow those of the one before.
[[nodiscard]] nlohmann::json chrome_trace(const std::vector<nlohmann::json>& records);

}  // namespace fourscore
