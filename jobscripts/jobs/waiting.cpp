#include "jobscripts/jobs/waiting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/regular_file.hpp"
#include "core/text.hpp"
#include "jobscripts/base/output.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/base/process.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

using std::chrono::steady_clock;

constexpr double longest_pause_s = 5;
constexpr double file_system_delay_s = 15;
constexpr std::size_t kept_of_log = 2000;

double seconds_since(steady_clock::time_point begin) {
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

}  // namespace

std::string state_text_of(const JobState& state) {
  const std::string word = !state.word.empty()                                           ? state.word
                           : state.phase == JobPhase::ended && state.end != JobEnd::none ? to_string(state.end)
                                                                                         : to_string(state.phase);
  return state.reason.empty() || state.reason == "None" ? word : fmt::format("{} ({})", word, state.reason);
}

void wait_for_job(const Scheduler& scheduler, const std::string& id, JobState& state, double patience_s) {
  const auto begin = steady_clock::now();
  state = {JobPhase::queued, JobEnd::none, "", "", ""};
  std::string said;
  for (double pause_s = 0.5;; pause_s = std::min(2 * pause_s, longest_pause_s)) {
    const auto states = scheduler.states({id});
    const auto found = states.find(id);
    const std::string nodes = state.nodes;
    state = found == states.end() ? JobState{} : found->second;
    if (state.nodes.empty()) state.nodes = nodes;
    if (const std::string now = state_text_of(state); now != said) {
      say("job {}: {}\n", printable(id), printable(now));
      said = now;
    }
    if (state.phase == JobPhase::ended) return;
    if (state.phase == JobPhase::queued && seconds_since(begin) > patience_s)
      throw EnvironmentError(fmt::format("job {} is still {} after {:g} s and was cancelled; --patience waits longer",
                                         id, said, patience_s));
    rest(pause_s);
  }
}

bool appears(const std::function<bool()>& is_there) {
  for (const auto begin = steady_clock::now(); !is_there();) {
    if (seconds_since(begin) > file_system_delay_s) return false;
    rest(0.2);
  }
  return true;
}

std::string end_of_log(const std::filesystem::path& log) {
  const std::string all = text_or_nothing(log);
  const std::string_view text = trimmed(all);
  return text.size() <= kept_of_log ? std::string(text) : "..." + std::string(text.substr(text.size() - kept_of_log));
}

}  // namespace fourscore
