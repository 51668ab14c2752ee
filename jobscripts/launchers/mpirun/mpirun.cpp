#include "jobscripts/launchers/mpirun/mpirun.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "core/environment.hpp"
#include "core/path_kind.hpp"
#include "jobscripts/base/process.hpp"

namespace fourscore {
namespace fs = std::filesystem;
namespace {

std::string path_of(const LauncherOptions& options) {
  if (!options.mpirun.empty()) return options.mpirun;
  if (const std::string set = environment("FOURSCORE_MPIEXEC"); !set.empty()) return set;
  const std::string configured = FOURSCORE_MPIEXEC_DEFAULT;
  return configured.empty() ? "mpirun" : configured;
}

Mpirun look_at(const std::string& path) {
  ProcessSpec spec;
  spec.argv = {path, "--version"};
  spec.time_limit_s = 20;
  const ProcessResult result = run_process(spec);
  if (result.interrupted) throw Interrupted();
  const std::string said = result.output + result.stderr_tail;
  Mpirun mpirun{path, MpirunFlavour::other, {}};
  if (result.start_error != 0) {
    mpirun.flavour = MpirunFlavour::missing;
    mpirun.problem = fmt::format(
        "'{}' cannot be started ({}); install an MPI (Debian: apt install libopenmpi-dev openmpi-bin, or mpich), "
        "load its module, or name its mpirun with --mpirun or FOURSCORE_MPIEXEC",
        path, result.start_problem());
  } else if (said.find("Open MPI") != std::string::npos || said.find("OpenRTE") != std::string::npos) {
    mpirun.flavour = MpirunFlavour::open_mpi;
  } else if (said.find("HYDRA") != std::string::npos) {
    mpirun.flavour = MpirunFlavour::hydra;
  } else {
    mpirun.problem = fmt::format("'{} --version' is neither Open MPI's nor MPICH's: {:.80}", path, said);
  }
  return mpirun;
}

MpirunFlavour flavour_of_library(const std::string& mpi) {
  if (mpi.starts_with("Open MPI")) return MpirunFlavour::open_mpi;
  for (const char* of_hydra : {"MPICH", "Intel(R) MPI", "MVAPICH", "CRAY MPICH"})
    if (mpi.starts_with(of_hydra)) return MpirunFlavour::hydra;
  return MpirunFlavour::other;
}

}  // namespace

Reason refuses_mpi(const Mpirun& mpirun, const std::string& mpi) {
  const bool by_open_mpi = mpirun.flavour == MpirunFlavour::open_mpi;
  if (!by_open_mpi && mpirun.flavour != MpirunFlavour::hydra) return {};
  const MpirunFlavour wanted = flavour_of_library(mpi);
  if (wanted == mpirun.flavour || wanted == MpirunFlavour::other) return {};
  return fmt::format(
      "'{}' is {}'s, and the program is built with {}: each of its ranks would run alone; expected the mpirun of that "
      "MPI (--mpirun, FOURSCORE_MPIEXEC, or the machine file's launch line)",
      mpirun.path, by_open_mpi ? "Open MPI" : "MPICH", mpi.substr(0, mpi.find(',')));
}

bool takes_ob1(const fs::path& root) {
  for (const char* chosen : {"OMPI_MCA_pml", "OMPI_MCA_mtl"})
    if (!environment(chosen).empty()) return false;
  if (names_something(fs::path(environment("HOME")) / ".openmpi" / "mca-params.conf")) return false;
  // What UCX, libfabric and PSM ask for: InfiniBand and its relatives, Slingshot, GPUs.
  constexpr auto others = std::to_array({"sys/class/infiniband", "sys/class/cxi", "dev/nvidiactl", "dev/kfd"});
  return std::ranges::none_of(others, [&root](const char* other) { return names_something(root / other); });
}

const Mpirun& find_mpirun(const LauncherOptions& options) { return mpirun_at(path_of(options)); }

const Mpirun& mpirun_at(const std::string& path) {
  static std::map<std::string, Mpirun> cache;  // asking takes a process
  const auto found = cache.find(path);
  return found != cache.end() ? found->second : cache.emplace(path, look_at(path)).first->second;
}

}  // namespace fourscore
