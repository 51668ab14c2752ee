#include "jobscripts/schedulers/shared/asking.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/environment.hpp"
#include "core/errors.hpp"
#include "core/text.hpp"
#include "jobscripts/base/output.hpp"
#include "jobscripts/base/paths.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

constexpr const char* patience_variable = "FOURSCORE_SCHEDULER_PATIENCE";
constexpr double longest_wait_s = 60;
constexpr std::size_t kept_of_stderr = 4096;  // as run_process says

double patience_or(double otherwise_s) {
  const std::string text = environment(patience_variable);
  if (text.empty()) return otherwise_s;
  const auto value = number_from<double>(text);
  if (!value || !std::isfinite(*value) || *value < 0)
    throw InputError(fmt::format("{} is '{}'; expected a number of seconds, 0 or more", patience_variable, text));
  return *value;
}

}  // namespace

Patience::Patience(std::string scheduler, double patience_s)
    : scheduler_(std::move(scheduler)), patience_s_(patience_or(patience_s)) {}

void Patience::wait(const std::string& why) {
  using std::chrono::duration;
  using std::chrono::steady_clock;
  const double left_s = patience_s_ - duration<double>(steady_clock::now() - begin_).count();
  if (left_s <= 0)
    throw EnvironmentError(fmt::format("{} does not answer: {}; it was asked for {:.0f} s ({})", scheduler_, why,
                                       duration<double>(steady_clock::now() - begin_).count(), patience_variable));
  const double wait_s = std::min(next_wait_s_, left_s);
  say("fourscore: {} does not answer ({}); asking again in {:.0f} s, for {:.0f} s more ({})\n", scheduler_,
      printable(why), std::ceil(wait_s), std::ceil(left_s), patience_variable);
  rest(wait_s);
  next_wait_s_ = std::min(2 * next_wait_s_, longest_wait_s);
}

namespace {

ProcessSpec call_of(const std::vector<std::string>& argv,
                    const std::vector<std::pair<std::string, std::string>>& environment,
                    const std::function<bool(std::string_view)>& drop) {
  ProcessSpec spec;
  if (drop) {
    spec.argv = {"env"};
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view text = *entry;
      const std::string_view name = text.substr(0, text.find('='));
      if (drop(name)) spec.argv.insert(spec.argv.end(), {"-u", std::string(name)});
    }
  }
  if (spec.argv.size() == 1) spec.argv.clear();
  spec.argv.insert(spec.argv.end(), argv.begin(), argv.end());
  spec.environment = environment;
  spec.environment.emplace_back("LC_ALL", "C");
  spec.time_limit_s = scheduler_call_limit_s;
  spec.output_limit = 0;
  return spec;
}

ProcessResult answer_to(const ProcessSpec& spec, const std::string& program) {
  ProcessResult result = run_process(spec);
  if (result.interrupted) throw Interrupted();
  if (result.start_error != 0)
    throw EnvironmentError(fmt::format("'{}' cannot be started ({})", program, result.start_problem()));
  return result;
}

}  // namespace

ProcessResult ask(const std::vector<std::string>& argv,
                  const std::vector<std::pair<std::string, std::string>>& environment,
                  const std::function<bool(std::string_view)>& drop, double time_limit_s) {
  ProcessSpec spec = call_of(argv, environment, drop);
  spec.time_limit_s = time_limit_s;
  return answer_to(spec, argv.front());
}

ProcessResult ask_for_job(const std::vector<std::string>& argv, const std::function<bool(std::string_view)>& drop) {
  ProcessSpec spec = call_of(argv, {}, drop);
  spec.ends_by_itself = true;
  return answer_to(spec, argv.front());
}

ProcessResult ask_until_answered(Patience patience, const std::vector<std::string>& argv, const SaysSo& no_answer,
                                 const SaysSo& is_answer,
                                 const std::vector<std::pair<std::string, std::string>>& environment,
                                 const std::function<bool(std::string_view)>& drop) {
  while (true) {
    ProcessResult answer = ask(argv, environment, drop);
    if (answer.succeeded() || (!answer.timed_out && is_answer(answer.stderr_tail))) return answer;
    const std::string why = words_of(answer);
    if (!answer.timed_out && !no_answer(why)) throw EnvironmentError(argv.front() + ": " + why);
    patience.wait(why);
  }
}

std::string words_of(const ProcessResult& result) {
  std::string words = result.stderr_tail;
  while (!words.empty() && std::isspace(static_cast<unsigned char>(words.back())) != 0) words.pop_back();
  if (result.timed_out)
    return fmt::format("no answer within {:.0f} s{}{}", result.wall_s, words.empty() ? "" : ": ", words);
  if (!words.empty()) return words;
  return result.signal != 0 ? fmt::format("ended by signal {}", result.signal)
                            : fmt::format("exit status {}", result.exit_status);
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return text;
  const std::string trimmed = text.substr(0, end + 1);
  return trimmed.substr(trimmed.rfind('\n') + 1);  // npos + 1 is 0
}

bool has_one_of(std::string_view text, const std::vector<std::string_view>& phrases) {
  return std::any_of(phrases.begin(), phrases.end(),
                     [text](std::string_view phrase) { return text.find(phrase) != std::string_view::npos; });
}

bool each_line_has_one_of(std::string_view text, const std::vector<std::string_view>& phrases) {
  std::vector<std::string> lines = split(text, '\n');
  if (text.size() >= kept_of_stderr) lines.erase(lines.begin());
  std::erase(lines, "");
  return !lines.empty() &&
         std::all_of(lines.begin(), lines.end(), [&](const std::string& line) { return has_one_of(line, phrases); });
}

std::string not_in_path(const std::vector<std::string>& programs) {
  std::vector<std::string> missing;
  std::ranges::copy_if(programs, std::back_inserter(missing),
                       [](const std::string& program) { return find_program(program).empty(); });
  return fmt::format("{}", fmt::join(missing, ", "));
}

}  // namespace fourscore
