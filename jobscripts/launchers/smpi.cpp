// No launcher at all: the fft_bench of the build for SimGrid's MPI has its ranks in one process, on simulated hosts.

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "core/installed.hpp"
#include "jobscripts/launchers/launcher.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;

class SmpiLauncher : public Launcher {
 public:
  [[nodiscard]] Card card() const override {
    return {"smpi", "ranks on a simulated machine, all in one process, under SimGrid's MPI: points with a platform",
            "Degomme et al. 2017, doi:10.1109/TPDS.2017.2669305"};
  }

  using Launcher::unavailable;
  [[nodiscard]] std::string unavailable(const LauncherOptions& /*options*/) const override {
    if (own_bench()) return {};
    return "no fft_bench of the build for SimGrid found: cmake --preset smpi && cmake --build --preset smpi "
           "(libsimgrid-dev: jobscripts/setup --with simgrid), or set FOURSCORE_SMPI_BENCH to one";
  }

  [[nodiscard]] bool simulates() const override { return true; }

  /// $FOURSCORE_SMPI_BENCH, else that of the build tree beside this program's, else the one installed beside it.
  [[nodiscard]] std::optional<fs::path> own_bench() const override {
    std::error_code error;
    if (const char* named = std::getenv("FOURSCORE_SMPI_BENCH"))
      return fs::is_regular_file(named, error) ? std::optional<fs::path>(fs::absolute(named)) : std::nullopt;
    for (const char* place : {"../../smpi/bin/fft_bench", "fft_bench-smpi"})
      if (const fs::path file = own_folder() / place; fs::is_regular_file(file, error)) return file.lexically_normal();
    return std::nullopt;
  }

  [[nodiscard]] Reason refuses(const LauncherOptions& /*options*/, const LaunchRequest& request) const override {
    if (request.platform == "none") return "it runs on simulated machines, and the point names no platform";
    if (request.placement == RankPlacement::socket) return "simulated hosts have no sockets";
    return {};
  }

  [[nodiscard]] LaunchCommand command(const LauncherOptions& /*options*/, const LaunchRequest& request) const override {
    return {request.program,
            {{"FOURSCORE_SIMULATED_RANKS", std::to_string(request.ranks)},
             {"FOURSCORE_SIMULATED_NODES", std::to_string(request.nodes)}}};
  }
};

FOURSCORE_REGISTER_LAUNCHER(SmpiLauncher);

}  // namespace
}  // namespace fourscore
