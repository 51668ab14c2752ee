#pragma once
// Asking the programs of a scheduler, which may be slow to answer or not there for a while.

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "jobscripts/base/process.hpp"

namespace fourscore {

/// How long one call of a scheduler's program may take. Slurm's own programs wait for slurmctld for MessageTimeout, of
/// which sites have up to 100 s.
inline constexpr double scheduler_call_limit_s = 120;
/// The same where the answer is of use, and not needed.
inline constexpr double short_call_limit_s = 15;

/// For how long a scheduler that does not answer is asked again: for the state of jobs, which will be asked for again,
/// and for what must not fail.
inline constexpr double status_patience_s = 30;
inline constexpr double usual_patience_s = 300;

/// Waits before a scheduler is asked again: 1 s, 2 s, 4 s and so on up to 60 s, until `patience_s`, or
/// $FOURSCORE_SCHEDULER_PATIENCE where it is set (s; 0: asked once), has passed since this was made.
class Patience {
 public:
  /// `scheduler` is named in what is said. Throws InputError where the environment variable is no number.
  explicit Patience(std::string scheduler, double patience_s = usual_patience_s);
  /// Says why it waits, and waits. Throws EnvironmentError with `why` when there is no patience left, Interrupted when
  /// the user asked to stop.
  void wait(const std::string& why);

 private:
  std::string scheduler_;
  double patience_s_;
  double next_wait_s_ = 1;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Runs a scheduler's program with C's locale, and with `environment`, but without those variables of this program that
/// `drop` names. Throws Interrupted when the user asked to stop, EnvironmentError where it cannot be started.
[[nodiscard]] ProcessResult ask(const std::vector<std::string>& argv,
                                const std::vector<std::pair<std::string, std::string>>& environment = {},
                                const std::function<bool(std::string_view)>& drop = {},
                                double time_limit_s = scheduler_call_limit_s);

/// The same for what submits a job. It is not interrupted: whose answer is lost leaves a job that nobody knows of. Who
/// asked to stop meanwhile is obeyed by the next call.
[[nodiscard]] ProcessResult ask_for_job(const std::vector<std::string>& argv,
                                        const std::function<bool(std::string_view)>& drop = {});

/// Whether what a program wrote to standard error says something.
using SaysSo = std::function<bool(std::string_view)>;

/// As ask(), again and again while the scheduler does not answer. What `is_answer` takes for one is an answer too,
/// though the program failed; another failure throws EnvironmentError.
ProcessResult ask_until_answered(Patience patience, const std::vector<std::string>& argv, const SaysSo& no_answer,
                                 const SaysSo& is_answer,
                                 const std::vector<std::pair<std::string, std::string>>& environment = {},
                                 const std::function<bool(std::string_view)>& drop = {});

/// What it said on standard error, or how it ended: never empty.
[[nodiscard]] std::string words_of(const ProcessResult& result);

/// Returns the last line.
[[nodiscard]] std::string last_line(const std::string& text);

/// Whether the text holds one of the phrases.
[[nodiscard]] bool has_one_of(std::string_view text, const std::vector<std::string_view>& phrases);

/// Whether the text has lines, and each of them one of the phrases. Only the end of a long text is known
/// (ProcessResult::stderr_tail), so its first line may be cut: it does not count then.
[[nodiscard]] bool each_line_has_one_of(std::string_view text, const std::vector<std::string_view>& phrases);

/// The programs that are not in PATH, with commas between them.
[[nodiscard]] std::string not_in_path(const std::vector<std::string>& programs);

}  // namespace fourscore
