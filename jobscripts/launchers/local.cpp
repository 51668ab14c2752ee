// mpirun of Open MPI or of MPICH (hydra) on this machine.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <system_error>

#include "jobscripts/launchers/launcher.hpp"
#include "jobscripts/process.hpp"

namespace fourscore {
namespace {

enum class Flavour { missing, open_mpi, hydra, other };

struct Mpirun {
  std::string path;
  Flavour flavour = Flavour::missing;
  std::string problem;
};

std::string path_of(const LauncherOptions& options) {
  if (!options.mpirun.empty()) return options.mpirun;
  if (const char* set = std::getenv("FOURSCORE_MPIEXEC"); set != nullptr && *set != '\0') return set;
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
  Mpirun mpirun{path, Flavour::other, {}};
  if (result.start_error != 0) {
    mpirun.flavour = Flavour::missing;
    mpirun.problem = fmt::format(
        "'{}' cannot be started ({}); install an MPI (Debian: apt install libopenmpi-dev openmpi-bin, or mpich), "
        "load its module, or name its mpirun with --mpirun or FOURSCORE_MPIEXEC",
        path, std::error_code(result.start_error, std::generic_category()).message());
  } else if (said.find("Open MPI") != std::string::npos || said.find("OpenRTE") != std::string::npos) {
    mpirun.flavour = Flavour::open_mpi;
  } else if (said.find("HYDRA") != std::string::npos) {
    mpirun.flavour = Flavour::hydra;
  } else {
    mpirun.problem = fmt::format("'{} --version' is neither Open MPI's nor MPICH's: {:.80}", path, said);
  }
  return mpirun;
}

/// Asking takes a process, so it is done once a path.
const Mpirun& known(const std::string& path) {
  static std::map<std::string, Mpirun> cache;
  const auto found = cache.find(path);
  return found != cache.end() ? found->second : cache.emplace(path, look_at(path)).first->second;
}

class LocalLauncher : public Launcher {
 public:
  [[nodiscard]] Card card() const override {
    return {"local", "mpirun of Open MPI or MPICH on this machine; ranks are bound to cores where they fit",
            "https://docs.open-mpi.org, https://www.mpich.org"};
  }

  using Launcher::unavailable;
  [[nodiscard]] std::string unavailable(const LauncherOptions& options) const override {
    return known(path_of(options)).problem;
  }

  [[nodiscard]] std::string refuses(const LauncherOptions&, const LaunchRequest& request) const override {
    if (request.nodes == 1) return {};
    return fmt::format("it starts ranks on this node alone, and not on {}", request.nodes);
  }

  [[nodiscard]] LaunchCommand command(const LauncherOptions& options, const LaunchRequest& request) const override {
    const Mpirun& mpirun = known(path_of(options));
    const int threads = request.threads;
    const bool fits = std::int64_t{request.ranks} * threads <= options.cores;
    LaunchCommand launch{{mpirun.path}, {{"OMP_NUM_THREADS", std::to_string(threads)}}};
    const auto add = [&launch](std::initializer_list<std::string> more) {
      launch.argv.insert(launch.argv.end(), more);
    };
    if (mpirun.flavour == Flavour::open_mpi) {
      if (::geteuid() == 0) add({"--allow-run-as-root"});
      if (fits)
        add({"--bind-to", "core", "--map-by", threads == 1 ? "core" : fmt::format("slot:PE={}", threads)});
      else
        add({"--oversubscribe", "--bind-to", "none"});
    } else {
      add({"-bind-to", !fits ? "none" : threads == 1 ? "core" : fmt::format("core:{}", threads)});
    }
    add({"-n", std::to_string(request.ranks)});
    launch.argv.insert(launch.argv.end(), request.program.begin(), request.program.end());
    return launch;
  }
};

FOURSCORE_REGISTER_LAUNCHER(LocalLauncher);

}  // namespace
}  // namespace fourscore
