#pragma once
// How an MPI program is started on this machine or cluster. One self-registering file each.

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/problem.hpp"
#include "core/refusal.hpp"
#include "core/registry.hpp"
#include "jobscripts/base/machine.hpp"

namespace fourscore {

/// Where to look for what launches; empty: each launcher's own ways.
struct LauncherOptions {
  std::string mpirun;  ///< --mpirun, else $FOURSCORE_MPIEXEC, else what CMake found
  int cores = 1;       ///< cores of a node that a launch may use
  Machine machine{};   ///< what its file says; without one, this machine
};

/// What is to run where.
struct LaunchRequest {
  int ranks = 1;
  int nodes = 1;
  int threads = 1;  ///< a rank
  RankPlacement placement = RankPlacement::block;
  std::string platform = "none";     ///< the simulated machine; "none": a real one
  std::vector<std::string> hosts{};  ///< the nodes to take, among those that the job has; empty: the launcher's choice
  std::vector<std::string> program;  ///< argv
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
  /// Nothing, or why it cannot start so many ranks on so many nodes. A property of the request, not of the day.
  [[nodiscard]] virtual Reason refuses(const LauncherOptions& options, const LaunchRequest& request) const = 0;
  /// Nothing, or why its programs are not of that MPI, which a program names in its identity. A launcher of another MPI
  /// starts each rank as a program of one rank.
  [[nodiscard]] virtual Reason refuses_mpi(const LauncherOptions& /*options*/, const std::string& /*mpi*/) const {
    return {};
  }
  /// What it knows of the network between its nodes, which the nodes' systems do not show: it stands in the machine's
  /// identity in place of what they show. Empty: nothing.
  [[nodiscard]] virtual std::string interconnect(const LauncherOptions& /*options*/) const { return {}; }
  /// Whether its ranks are on simulated machines: then it takes the points that name a platform, and no others.
  [[nodiscard]] virtual bool simulates() const { return false; }
  /// The fft_bench that alone it can start, in place of the one beside this program; nothing: any.
  [[nodiscard]] virtual std::optional<std::filesystem::path> own_bench() const { return std::nullopt; }
  /// Starts the program so, ranks bound to cores where they fit.
  [[nodiscard]] virtual LaunchCommand command(const LauncherOptions& options, const LaunchRequest& request) const = 0;
};

using LauncherRegistry = Registry<Launcher>;

}  // namespace fourscore

#define FOURSCORE_REGISTER_LAUNCHER(Type) \
  static const bool registered_##Type = ::fourscore::LauncherRegistry::instance().add(std::make_unique<Type>())
