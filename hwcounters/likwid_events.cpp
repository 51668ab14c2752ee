#include "hwcounters/likwid_events.hpp"

#include <fmt/format.h>

#include <string_view>

namespace fourscore {
namespace {

constexpr int max_units = 16;  ///< boxes that a '*' in a code stands for

/// Counters of one hardware thread; all others are of a socket.
bool is_of_core(std::string_view counter) { return counter.starts_with("PMC") || counter.starts_with("FIXC"); }

/// A code is "EVENT:COUNTER", '*' standing for the number of a box, or "GROUP/METRIC" of LIKWID's own groups.
struct Code {
  std::string group;
  std::string metric;
  std::string event;
  std::string counter;
};

Code parse(const EventSpec& spec) {
  if (const std::size_t slash = spec.code.find('/'); slash != std::string::npos)
    return {spec.code.substr(0, slash), spec.code.substr(slash + 1), {}, {}};
  const std::size_t colon = spec.code.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == spec.code.size())
    throw CounterRequestError(
        fmt::format("event '{}' of backend likwid is '{}'; expected \"EVENT:COUNTER\" or "
                    "\"GROUP/METRIC\" of a performance group of LIKWID's",
                    spec.name, spec.code));
  return {{}, {}, spec.code.substr(0, colon), spec.code.substr(colon + 1)};
}

}  // namespace

LikwidEventSet likwid_event_set(const std::vector<EventSpec>& events) {
  LikwidEventSet set;
  int count = 0;
  for (const auto& spec : events) {
    const Code code = parse(spec);
    if (&spec == &events.front()) set.own_group = !code.group.empty();
    if (set.own_group != !code.group.empty() || (set.own_group && !set.text.empty() && set.text != code.group))
      throw CounterRequestError(
          fmt::format("event '{}' ({}) of backend likwid: the events of one group must all be of "
                      "one performance group of LIKWID's, or all be \"EVENT:COUNTER\"",
                      spec.name, spec.code));
    auto& parts = set.parts.emplace_back();
    set.of_socket = set.of_socket || set.own_group || !is_of_core(code.counter);
    if (set.own_group) {
      set.text = code.group;
      set.metrics.push_back(code.metric);
      continue;
    }
    const std::size_t star = code.counter.find('*');
    const bool once = star == std::string::npos;
    const std::string before = code.counter.substr(0, star);
    const std::string after = once ? "" : code.counter.substr(star + 1);
    for (int unit = 0; unit < (once ? 1 : max_units); ++unit) {
      const std::string number = once ? "" : std::to_string(unit);
      set.text += fmt::format("{}{}:{}{}{}", set.text.empty() ? "" : ",", code.event, before, number, after);
      parts.push_back(count++);
    }
  }
  return set;
}

}  // namespace fourscore
