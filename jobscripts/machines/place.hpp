#pragma once
// Where a campaign's launches run: on which machine, by which launcher.

#include <string>

#include "jobscripts/base/machine.hpp"
#include "jobscripts/launchers/launcher.hpp"
#include "jobscripts/suites/suite.hpp"

namespace fourscore {

struct Place {
  MachineSize size{1};  ///< what "cores" and "nodes" of a suite stand for
  const Launcher* launcher = nullptr;
  LauncherOptions options;
};

/// What a command line says of it; empty: not said.
struct PlaceRequest {
  std::string machine;   ///< --machine, else $FOURSCORE_MACHINE, else this machine
  std::string launcher;  ///< --launcher, else the machine file's, else local
  std::string mpirun;    ///< --mpirun
  bool repacks = false;  ///< --repack
};

/// In a job, its nodes are the machine's. Throws InputError for a machine or launcher that does not exist.
[[nodiscard]] Place find_place(const PlaceRequest& request);

/// The size of the machine, of which the job that this runs in may be a part.
[[nodiscard]] MachineSize whole_machine(const Place& place);

/// What the machine file says of the interconnect holds for all that is started from now on: FOURSCORE_INTERCONNECT,
/// unless the environment has it.
void tell_interconnect(const Machine& machine);
/// The same, but where the launcher makes the interconnect what it says holds.
void tell_interconnect(const Place& place);

/// Throws EnvironmentError where the launcher cannot be used.
void require_available(const Place& place);

/// Nothing, or why the launch cannot be started at this place, and which launcher could.
[[nodiscard]] Reason refusal(const Place& place, const LaunchRequest& request);

}  // namespace fourscore
