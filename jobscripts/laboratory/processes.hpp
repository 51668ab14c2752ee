#pragma once
// What the processes of a laboratory have in common: how they wait for each other and tell what went wrong.

#include <sys/types.h>

#include <array>
#include <csignal>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "core/descriptor.hpp"

namespace fourscore {

/// Throws EnvironmentError with errno's text unless `holds`.
void require_system(bool holds, const std::string& what);

/// A pipe by which one process tells another that it is ready, or why it is not. A program that is started does not
/// inherit it.
class Outcome {
 public:
  Outcome();
  void tell_ready();
  void tell(const std::exception& error);
  /// In the process that waits. Throws what the other told, with its type, and EnvironmentError when it ended without a
  /// word.
  void await_ready();
  /// The same, where the other says nothing when all is well.
  void await_end();

 private:
  explicit Outcome(const std::array<int, 2>& ends);
  void throw_what(const std::string& told) const;
  Descriptor read_, write_;
};

/// While it exists, SIGCHLD and the signals that are passed on wait until they are asked for, and SIGCHLD is not
/// ignored.
class AwaitedSignals {
 public:
  AwaitedSignals();
  ~AwaitedSignals();
  AwaitedSignals(const AwaitedSignals&) = delete;
  AwaitedSignals& operator=(const AwaitedSignals&) = delete;

 private:
  sigset_t before_{};
  struct sigaction child_before_ {};
};

/// As fork(); the child does `work` and ends with its result. Throws EnvironmentError.
[[nodiscard]] pid_t start_process(const std::function<int()>& work);

/// As start_process, with a program. `prepare` is called before it starts, and may throw. Throws InputError when there
/// is no such program. Call where AwaitedSignals exists.
[[nodiscard]] pid_t start_program(const std::vector<std::string>& argv, const std::function<void()>& prepare);

/// Whether SIGINT and its like come from a terminal, to all processes at once.
[[nodiscard]] bool at_a_terminal();

/// Waits for a child of this process, reaps whatever else ends, and passes signals on to it, but for those that it gets
/// from the terminal too. Returns as a shell does: its status, or 128 and the number of the signal that ended it.
[[nodiscard]] int wait_and_pass_signals(pid_t child);

/// For the first process of a host: reaps for ever.
[[noreturn]] void reap_for_ever();

}  // namespace fourscore
