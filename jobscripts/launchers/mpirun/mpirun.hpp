#pragma once
// Which mpirun there is, for the launchers that start programs by one.

#include <string>

#include "jobscripts/launchers/launcher.hpp"

namespace fourscore {

enum class MpirunFlavour { missing, open_mpi, hydra, other };

struct Mpirun {
  std::string path;
  MpirunFlavour flavour = MpirunFlavour::missing;
  std::string problem;  ///< why it cannot be used and what to do about it; empty when it can
};

/// --mpirun, else $FOURSCORE_MPIEXEC, else what CMake found. Throws Interrupted.
[[nodiscard]] const Mpirun& find_mpirun(const LauncherOptions& options);

}  // namespace fourscore
