// mpirun of Open MPI or of MPICH (hydra) on this machine.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string_view>

#include "core/regular_file.hpp"
#include "core/topology.hpp"
#include "jobscripts/launchers/launcher.hpp"
#include "jobscripts/launchers/mpirun/mpirun.hpp"
#include "jobscripts/schedulers/scheduler.hpp"

namespace fourscore {
namespace {

/// Nodes of the job in which this program runs, also where its scheduler is not ours or not in PATH; 1 outside a job.
std::size_t nodes_of_this_job() {
  if (const auto allocation = current_allocation()) return std::max<std::size_t>(allocation->hosts.size(), 1);
  for (const char* name : {"SLURM_JOB_NUM_NODES", "SLURM_NNODES", "PBS_NUM_NODES"})
    if (const char* said = std::getenv(name); said != nullptr && std::atoi(said) > 0)
      return static_cast<std::size_t>(std::atoi(said));
  std::set<std::string> hosts;
  if (const char* file = std::getenv("PBS_NODEFILE")) {
    std::istringstream lines(text_or_nothing(file));
    for (std::string host; std::getline(lines, host);)
      if (!host.empty()) hosts.insert(host);
  }
  return std::max<std::size_t>(hosts.size(), 1);
}

/// What ranks are bound to: processing units where hwloc knows no cores, and mpirun would end.
const char* bound_to() {
  static const bool cores = Topology().knows_cores();
  return cores ? "core" : "hwthread";
}

class LocalLauncher : public Launcher {
 public:
  [[nodiscard]] Card card() const override {
    return {"local", "mpirun of Open MPI or MPICH on this machine; ranks are bound to cores where they fit",
            "https://docs.open-mpi.org, https://www.mpich.org"};
  }

  using Launcher::unavailable;
  [[nodiscard]] std::string unavailable(const LauncherOptions& options) const override {
    if (const std::size_t nodes = nodes_of_this_job(); nodes > 1)
      return fmt::format(
          "this job has {} nodes, and all ranks would be on this one; use --launcher srun, or template with the "
          "launch line of a machine file (--machine)",
          nodes);
    return find_mpirun(options).problem;
  }

  [[nodiscard]] Reason refuses(const LauncherOptions& options, const LaunchRequest& request) const override {
    if (request.nodes > 1) return fmt::format("it starts ranks on this node alone, and not on {}", request.nodes);
    if (request.placement == RankPlacement::socket && !fits(options, request))
      return fmt::format("{} ranks of {} threads are more than the {} cores, so none can be bound to a socket",
                         request.ranks, request.threads, options.cores);
    return {};
  }

  [[nodiscard]] Reason refuses_mpi(const LauncherOptions& options, const std::string& mpi) const override {
    return fourscore::refuses_mpi(find_mpirun(options), mpi);
  }

  [[nodiscard]] LaunchCommand command(const LauncherOptions& options, const LaunchRequest& request) const override {
    const Mpirun& mpirun = find_mpirun(options);
    const int threads = request.threads;
    const bool by_socket = request.placement == RankPlacement::socket;
    LaunchCommand launch{{mpirun.path}, {{"OMP_NUM_THREADS", std::to_string(threads)}}};
    const auto add = [&launch](std::initializer_list<std::string> more) {
      launch.argv.insert(launch.argv.end(), more);
    };
    if (mpirun.flavour == MpirunFlavour::open_mpi) {
      if (::geteuid() == 0) add({"--allow-run-as-root"});
      if (takes_ob1()) launch.environment.emplace_back("OMPI_MCA_pml", "ob1");
      if (!fits(options, request))
        add({"--oversubscribe", "--bind-to", "none"});
      else if (by_socket)
        add({"--bind-to", bound_to(), "--map-by", threads == 1 ? "socket" : fmt::format("socket:PE={}", threads),
             "--rank-by", "socket"});
      else
        add({"--bind-to", bound_to(), "--map-by", threads == 1 ? bound_to() : fmt::format("slot:PE={}", threads)});
      if (fits(options, request) && std::string_view(bound_to()) == "hwthread") add({"--use-hwthread-cpus"});
    } else {
      const std::string cores = threads == 1 ? bound_to() : fmt::format("{}:{}", bound_to(), threads);
      add({"-bind-to", fits(options, request) ? cores : "none"});
      if (by_socket) add({"-map-by", "socket"});
    }
    const auto& further = options.machine.launch_options;
    launch.argv.insert(launch.argv.end(), further.begin(), further.end());
    add({"-n", std::to_string(request.ranks)});
    launch.argv.insert(launch.argv.end(), request.program.begin(), request.program.end());
    return launch;
  }

 private:
  static bool fits(const LauncherOptions& options, const LaunchRequest& request) {
    return std::int64_t{request.ranks} * request.threads <= options.cores;
  }
};

FOURSCORE_REGISTER_LAUNCHER(LocalLauncher);

}  // namespace
}  // namespace fourscore
