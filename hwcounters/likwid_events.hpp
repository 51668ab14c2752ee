#pragma once
// The events of a group as LIKWID is asked for them.

#include <string>
#include <vector>

#include "hwcounters/counter.hpp"

namespace fourscore {

/// The text that LIKWID is given, and which of its events or metrics are parts of which of ours.
struct LikwidEventSet {
  std::string text;
  bool own_group = false;  ///< LIKWID's own group: its metrics are taken, not its events
  bool of_socket = false;
  std::vector<std::string> metrics;     ///< [event of ours], of LIKWID's own group
  std::vector<std::vector<int>> parts;  ///< [event of ours]
};

/// Throws CounterRequestError for a code of another form, and for events that LIKWID cannot count together.
[[nodiscard]] LikwidEventSet likwid_event_set(const std::vector<EventSpec>& events);

}  // namespace fourscore
