#pragma once
// How an MPI program is started on this machine or cluster. One self-registering file each.

#include <string>
#include <utility>
#include <vector>

#include "core/registry.hpp"

namespace fourscore {

/// Where to look for what launches; empty: each launcher's own ways.
struct LauncherOptions {
  std::string mpirun;  ///< --mpirun, else $FOURSCORE_MPIEXEC, else what CMake found
  int cores = 1;       ///< cores this program may run on
};

/// The program to start, and what to add to its environment.
struct LaunchCommand {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;
};

class Launcher {
 public:
  virtual ~Launcher() = default;
  [[nodiscard]] virtual Card card() const = 0;
  /// For the registry: with the options that the environment gives.
  [[nodiscard]] std::string unavailable() const { return unavailable(LauncherOptions{}); }
  /// Why it cannot launch with these options and what to do about it; empty when it can.
  [[nodiscard]] virtual std::string unavailable(const LauncherOptions& options) const = 0;
  /// Starts `program` (argv) on `ranks` ranks of `threads` threads, bound to cores where they fit.
  [[nodiscard]] virtual LaunchCommand command(const LauncherOptions& options, int ranks, int threads,
                                              const std::vector<std::string>& program) const = 0;
};

using LauncherRegistry = Registry<Launcher>;

}  // namespace fourscore

#define FOURSCORE_REGISTER_LAUNCHER(Type) \
  static const bool registered_##Type = ::fourscore::LauncherRegistry::instance().add(std::make_unique<Type>())
