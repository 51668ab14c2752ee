#pragma once
// The main() of the programs that measure under MPI: what they share of starting, failing and ending.

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/moment.hpp"
#include "harness/agreement.hpp"
#include "mpi/thread_level.hpp"
#include "program/measurement.hpp"

namespace fourscore::bench {

using SteadyTime = std::chrono::steady_clock::time_point;

/// How a program is started under MPI.
struct MpiStart {
  std::string program;
  ThreadLevel thread_level = ThreadLevel::funneled;
  std::string started;  ///< file to create once MPI runs; empty: none
  std::optional<Moment> launched_at;
  /// What the command line says of the launch, by the names of point keys: the platform of a simulation, for one.
  std::map<std::string_view, std::string> launch{};
};

/// Initialises MPI, calls measure() on all ranks and finalises. The exit code: that of measure(), or of a failure,
/// which rank 0 prints. measure() is given the steps made by now.
[[nodiscard]] int run_under_mpi(int& argc, char**& argv, const MpiStart& start, SteadyTime begin,
                                const std::function<int(Agreement&, const StepTimes&)>& measure);

/// The whole of main(): body() with the time at which the program began, and the exit code of what it threw.
[[nodiscard]] int run_main(const std::string& program, const std::function<int(SteadyTime)>& body);

}  // namespace fourscore::bench
