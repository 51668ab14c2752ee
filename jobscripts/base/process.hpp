#pragma once
// Running one program to its end, or ending it: no shell, nothing of it left behind.

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fourscore {

struct ProcessSpec {
  std::vector<std::string> argv;                                 ///< argv[0] is looked up in PATH when it has no slash
  std::vector<std::pair<std::string, std::string>> environment;  ///< set on top of this program's own
  std::string input;                                             ///< written to its standard input
  double time_limit_s = 0;                                       ///< 0: none
  std::size_t output_limit = 4096;  ///< how many of the last bytes of standard output are kept; 0: all
  std::function<void(std::string_view)> takes_output;  ///< piece by piece as it comes; then none of it is kept
  bool ends_by_itself = false;  ///< an interrupt does not end it, and is obeyed by what comes next
};

struct ProcessResult {
  int start_error = 0;  ///< errno when it could not be started; everything else is then meaningless
  int exit_status = 0;  ///< if the program ended by itself
  int signal = 0;       ///< that ended it, or 0
  bool timed_out = false;
  bool interrupted = false;  ///< this program was asked to stop and ended it
  double wall_s = 0;
  std::string output;       ///< standard output
  std::string stderr_tail;  ///< the last 4 KiB of standard error

  /// It was started, and ended by itself with exit status 0.
  [[nodiscard]] bool succeeded() const;
  /// The system's words for `start_error`.
  [[nodiscard]] std::string start_problem() const;
};

/// Runs the program in a process group of its own, below a supervisor process that is the reaper of all its descendants
/// (mpirun and its ranks may use groups and sessions of their own). At the time limit, on interrupt, or when this
/// program dies by any signal, the group gets SIGTERM and after 5 s every descendant gets SIGKILL. The supervisor
/// inherits this program's open files and so its locks: another run cannot start before everything has ended.
/// Call from a program with one thread. Throws std::system_error when the system refuses a pipe or a process.
[[nodiscard]] ProcessResult run_process(const ProcessSpec& spec);

/// The user asked to stop. Ends in exit code 130.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

/// While it exists, SIGINT, SIGTERM and SIGHUP set a flag, which run_process obeys, instead of ending the program. A
/// signal that is ignored (nohup, a shell's background job) stays ignored.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  [[nodiscard]] static bool interrupted();
  /// Throws Interrupted where interrupted().
  static void check();
  /// The interrupt is being obeyed: what cleans up may start programs, until the next one.
  static void obeyed();
};

/// Sleeps, and throws Interrupted where an InterruptGuard was asked to stop.
void rest(double seconds);

/// Whether a shell, and a scheduler, takes the text for one word as it is.
[[nodiscard]] bool is_plain_word(std::string_view text);

/// The text as one word of a shell's command, in quotes where it needs them.
[[nodiscard]] std::string shell_word(std::string_view text);

/// argv as one would type it.
[[nodiscard]] std::string shown_command(const std::vector<std::string>& argv);

}  // namespace fourscore
