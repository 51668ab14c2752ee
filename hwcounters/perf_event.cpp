#include "hwcounters/perf_event.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>

#include <charconv>

#include "core/did_you_mean.hpp"
#include "core/text.hpp"
#include "hwcounters/counter.hpp"

namespace fourscore {
namespace {

struct NamedEvent {
  const char* name;
  std::uint32_t type;
  std::uint64_t config;
};

// perf_event_open(2): names as perf list shows them.
constexpr NamedEvent named_events[] = {
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
    {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};

/// unit/terms/
void resolve_unit(PerfEvent& event, const std::string& unit, const std::string& terms, const SysfsPmus& pmus, int cpu) {
  const int socket = pmus.socket_of(cpu);
  for (const PmuUnit& box : pmus.find(unit)) {
    const PmuEncoding encoding = box.encode(terms);
    event.uncore = box.uncore;
    if (!box.uncore) event.counters.push_back({box.name, encoding, -1});
    for (const int place : box.cpus)
      if (pmus.socket_of(place) == socket) event.counters.push_back({box.name, encoding, place});
  }
  if (event.counters.empty())
    throw CounterError(fmt::format("no unit '{}' counts for the socket of processor {}", unit, cpu));
}

}  // namespace

PerfEvent resolve_perf_event(const std::string& code, const SysfsPmus& pmus, int cpu) {
  PerfEvent event;
  event.code = code;
  if (const std::size_t slash = code.find('/'); slash != std::string::npos) {
    const std::size_t last = code.rfind('/');
    const std::string modifier = code.substr(last + 1);
    if (slash == 0 || last == slash + 1 || last == slash || (!modifier.empty() && modifier != "u"))
      throw CounterRequestError(fmt::format("event '{}' must have the form unit/terms/ or unit/terms/u", code));
    event.user_only = modifier == "u";
    resolve_unit(event, code.substr(0, slash), code.substr(slash + 1, last - slash - 1), pmus, cpu);
    if (event.uncore && event.user_only)
      throw CounterRequestError(fmt::format("event '{}': an uncore unit cannot tell user mode apart", code));
    return event;
  }
  std::string name = code;
  if (name.ends_with(":u")) {
    event.user_only = true;
    name.resize(name.size() - 2);
  }
  std::vector<std::string> known;
  for (const NamedEvent& candidate : named_events) {
    known.emplace_back(candidate.name);
    if (name != candidate.name) continue;
    event.software = candidate.type == PERF_TYPE_SOFTWARE;
    event.counters.push_back(
        {event.software ? "software" : "cpu", {candidate.type, {candidate.config, 0, 0}, 1.0}, -1});
    return event;
  }
  if (const auto raw =
          number_from<std::uint64_t>(std::string_view(name).substr(std::min<std::size_t>(name.size(), 1)), 16);
      raw && name.starts_with('r')) {
    event.counters.push_back({"cpu", {PERF_TYPE_RAW, {*raw, 0, 0}, 1.0}, -1});
    return event;
  }
  throw CounterRequestError(
      fmt::format("perf event '{}' is unknown{}; an event is a name of perf list, rHEX, or "
                  "unit/terms/",
                  code, did_you_mean(name, known)));
}

}  // namespace fourscore
