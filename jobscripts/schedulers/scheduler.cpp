#include "jobscripts/schedulers/scheduler.hpp"

#include <array>

namespace fourscore {

std::optional<Allocation> current_allocation() {
  for (const std::string& name : SchedulerRegistry::instance().names())
    if (auto allocation = SchedulerRegistry::instance().find(name)->allocation()) return allocation;
  return std::nullopt;
}

std::string to_string(JobPhase phase) {
  static constexpr std::array<const char*, 3> words{"queued", "running", "ended"};
  return words.at(static_cast<std::size_t>(phase));
}

std::string to_string(JobEnd end) {
  static constexpr std::array<const char*, 9> words{
      "", "completed", "failed", "timeout", "node failure", "out of memory", "preempted", "cancelled", "unknown"};
  return words.at(static_cast<std::size_t>(end));
}

}  // namespace fourscore
