#pragma once
// What Callgrind writes when it is asked for a dump of its counts.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fourscore {

/// The sums over everything that ran since the dump before.
struct CallgrindDump {
  std::string trigger;  ///< what asked for it: "Client Request: NAME", "Program termination"
  std::map<std::string, std::uint64_t, std::less<>> totals;  ///< by event: "Ir", "DLmr" ...
};

/// The parts of a file written with --combine-dumps=yes, in time order (format: Valgrind manual, Callgrind Format
/// Specification). Throws CounterError for a part without events or totals, as a run that was killed leaves it.
[[nodiscard]] std::vector<CallgrindDump> parse_callgrind_dumps(std::string_view text);

}  // namespace fourscore
