#pragma once
// The process between `fourscore` and what it launches; see run_process.

#include <sys/types.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace fourscore {

enum class EndedBecause : int { itself, time_limit, asked };

/// Sent over a pipe when the program and all its descendants are gone.
struct SupervisorReport {
  int start_error = 0;
  int exit_status = 0;
  int signal = 0;
  EndedBecause ended_because = EndedBecause::itself;
};

struct SupervisedProgram {
  char* const* argv;
  const std::vector<std::pair<std::string, std::string>>* environment;
  double time_limit_s;
  int input;   ///< read end
  int output;  ///< write ends
  int error;
  int report;
  std::array<int, 4> parents_ends;
};

/// Runs in the forked child, in which SIGTERM is blocked; ends the process.
[[noreturn]] void supervise(const SupervisedProgram& program, pid_t parent);

/// Processes below `root`, itself not among them.
[[nodiscard]] std::vector<pid_t> descendants_of(pid_t root);

}  // namespace fourscore
