#pragma once
// Which mpirun there is, for the launchers that start programs by one.

#include <filesystem>
#include <string>

#include "jobscripts/launchers/launcher.hpp"

namespace fourscore {

enum class MpirunFlavour { missing, open_mpi, hydra, other };

struct Mpirun {
  std::string path;
  MpirunFlavour flavour = MpirunFlavour::missing;
  std::string problem;  ///< why it cannot be used and what to do about it; empty when it can
};

/// Nothing, or why this mpirun starts no programs of that MPI (as MPI_Get_library_version says); nothing, too, where
/// one of the two is not known. Hydra is the launcher of MPICH and of those that come from it: Intel MPI, MVAPICH, Cray
/// MPICH.
[[nodiscard]] Reason refuses_mpi(const Mpirun& mpirun, const std::string& mpi);

/// The mpirun of that path, asked once.
[[nodiscard]] const Mpirun& mpirun_at(const std::string& path);

/// Whether Open MPI will take its messaging layer `ob1` on this machine: no other one has an adapter or a GPU here, and
/// the user has chosen none. Open MPI spends 0.2 s of each launch on finding that out (Debian's 4.1.4) unless it is
/// told.
[[nodiscard]] bool takes_ob1(const std::filesystem::path& root = "/");

/// --mpirun, else $FOURSCORE_MPIEXEC, else what CMake found. Throws Interrupted.
[[nodiscard]] const Mpirun& find_mpirun(const LauncherOptions& options);

}  // namespace fourscore
