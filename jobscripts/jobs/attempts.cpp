#include "jobscripts/jobs/attempts.hpp"

#include <fmt/format.h>

#include "core/text.hpp"

namespace fourscore {

std::map<std::string, Attempts> attempts_of(const std::vector<KnownJob>& jobs) {
  std::map<std::string, Attempts> attempts;
  for (const KnownJob& job : jobs) {
    if (job.lives()) continue;
    const JobJournal journal = job.folder.journal();
    if (journal.in_flight.empty()) continue;
    Attempts& of_launch = attempts[journal.in_flight];
    ++of_launch.ends[journal.cut ? JobEnd::timeout : job.state.end];
    of_launch.last_job = fmt::format("{} ({})", job.id, job.folder.name());
  }
  return attempts;
}

Reason exhausted(const Attempts& attempts, const std::map<std::string, int>& retries) {
  for (const auto& [end, count] : attempts.ends) {
    std::string key = to_string(end == JobEnd::completed ? JobEnd::unknown : end);
    for (char& c : key)
      if (c == ' ') c = '_';
    const auto allowed = retries.find(key);
    if (allowed == retries.end() || count <= allowed->second) continue;
    return fmt::format("{}: job {} ended so while it ran ({}; the suite's retries.{} is {})", to_string(end),
                       attempts.last_job, plural(count, "time"), key, allowed->second);
  }
  return {};
}

}  // namespace fourscore
