// srun of Slurm, within a job.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <sstream>

#include "jobscripts/base/process.hpp"
#include "jobscripts/launchers/launcher.hpp"

namespace fourscore {
namespace {

/// Standard output and error together; `problem` where it could not be asked.
struct Answer {
  std::string text;
  std::string problem;
};

Answer ask_srun(const std::string& option) {
  ProcessSpec spec;
  spec.argv = {"srun", option};
  spec.time_limit_s = 20;
  spec.output_limit = 0;
  const ProcessResult result = run_process(spec);
  if (result.interrupted) throw Interrupted();
  Answer answer{result.output + result.stderr_tail, {}};
  if (result.start_error != 0)
    answer.problem = fmt::format("srun cannot be started ({}); load Slurm's module, or use another launcher",
                                 result.start_problem());
  else if (!result.succeeded())
    answer.problem = fmt::format("'srun {}' does not answer: {}", option, result.stderr_tail);
  return answer;
}

bool is_pmix(const std::string& plugin) { return plugin.starts_with("pmix"); }

/// Which of Slurm's plugins starts the MPI that this program was built beside; empty where none is among them.
std::string fitting_plugin(const std::string& listed) {
  std::istringstream words(listed);
  std::set<std::string> plugins;
  for (std::string word; words >> word;) plugins.insert(word);
  const std::string vendor = FOURSCORE_MPI_VENDOR;
  const std::vector<std::string> in_order = vendor == "openmpi" ? std::vector<std::string>{"pmix", "pmi2"}
                                            : vendor == "mpich"
                                                ? std::vector<std::string>{"cray_shasta", "pmi2", "pmix"}
                                                : std::vector<std::string>{"pmi2", "pmix"};
  // cray_shasta is compiled into every Slurm, and of use on that network alone.
  const bool is_cray = std::getenv("CRAY_MPICH_VERSION") != nullptr || std::getenv("CRAYPE_VERSION") != nullptr;
  for (const std::string& plugin : in_order)
    if (plugins.contains(plugin) && (plugin != "cray_shasta" || is_cray)) return plugin;
  for (const std::string& plugin : plugins)
    if (is_pmix(plugin) && std::ranges::find(in_order, "pmix") != in_order.end()) return plugin;  // pmix_v4 alone
  return {};
}

/// Asking takes processes, so it is done once.
struct Srun {
  std::string problem;
  std::string plugin;      ///< for --mpi, where the machine file says none
  bool has_exact = false;  ///< since Slurm 21.08 a step has all of its nodes unless it says --exact
};

Srun look_at_srun() {
  Srun srun;
  const Answer plugins = ask_srun("--mpi=list");
  srun.problem = plugins.problem;
  if (!srun.problem.empty()) return srun;
  srun.plugin = fitting_plugin(plugins.text);
  srun.has_exact = ask_srun("--help").text.find("--exact") != std::string::npos;
  return srun;
}

const Srun& known_srun() {
  static const Srun srun = look_at_srun();
  return srun;
}

/// Over nodes, then over a node's sockets. NoPack: as many ranks on each node, where some Slurms fill one first.
std::string distribution(RankPlacement placement) {
  if (placement == RankPlacement::cyclic) return "cyclic:block";
  return placement == RankPlacement::socket ? "block:cyclic,NoPack" : "block:block,NoPack";
}

class SrunLauncher : public Launcher {
 public:
  [[nodiscard]] Card card() const override {
    return {"srun", "Slurm's srun, on the nodes of the job in which it runs; ranks are bound to cores where they fit",
            "https://slurm.schedmd.com/srun.html"};
  }

  using Launcher::unavailable;
  [[nodiscard]] std::string unavailable(const LauncherOptions& options) const override {
    if (std::getenv("SLURM_JOB_ID") == nullptr)
      return "this is no job of Slurm (SLURM_JOB_ID is not set); use it in one: salloc, sbatch, or fourscore submit";
    const Srun& srun = known_srun();
    if (!srun.problem.empty() || !srun.plugin.empty() || !options.machine.mpi.empty()) return srun.problem;
    return fmt::format(
        "'srun --mpi=list' shows no plugin for this MPI ({}); name one in a machine file: mpi = \"...\" of "
        "[launch]",
        FOURSCORE_MPI_VENDOR);
  }

  [[nodiscard]] Reason refuses(const LauncherOptions& options, const LaunchRequest& request) const override {
    if (!request.hosts.empty() && request.hosts.size() != static_cast<std::size_t>(request.nodes))
      return fmt::format("{} hosts are named for {} nodes", request.hosts.size(), request.nodes);
    if (request.placement == RankPlacement::socket && !fits(options, request))
      return fmt::format(
          "{} ranks of {} threads are more than {} cores on each of {} nodes, so none can be bound to a "
          "socket",
          request.ranks, request.threads, options.cores, request.nodes);
    return {};
  }

  [[nodiscard]] LaunchCommand command(const LauncherOptions& options, const LaunchRequest& request) const override {
    const Srun& srun = known_srun();
    const std::string mpi = options.machine.mpi.empty() ? srun.plugin : options.machine.mpi;
    LaunchCommand launch{{"srun"}, {{"OMP_NUM_THREADS", std::to_string(request.threads)}}};
    const auto add = [&launch](std::initializer_list<std::string> more) {
      launch.argv.insert(launch.argv.end(), more);
    };
    add({"-N", std::to_string(request.nodes), "-n", std::to_string(request.ranks)});
    // Where it does not divide, srun spreads them evenly by itself, and only warns of this option.
    if (request.ranks % request.nodes == 0) add({fmt::format("--ntasks-per-node={}", request.ranks / request.nodes)});
    add({fmt::format("--cpus-per-task={}", request.threads), "--distribution=" + distribution(request.placement)});
    if (fits(options, request)) {
      add({"--cpu-bind=cores"});
      // Cores taken before they are bound are the first of a node, of one socket.
      if (srun.has_exact && request.placement != RankPlacement::socket) add({"--exact"});
    } else {
      add({"--overcommit", "--cpu-bind=none"});
    }
    // A step of some cores would get their share of the memory alone; the script's --export=NONE is not for ranks.
    add({"--mem=0", "--export=ALL", "--kill-on-bad-exit=1", "--mpi=" + mpi});
    if (!request.hosts.empty()) add({fmt::format("--nodelist={}", fmt::join(request.hosts, ","))});
    const auto& further = options.machine.launch_options;
    launch.argv.insert(launch.argv.end(), further.begin(), further.end());
    launch.argv.insert(launch.argv.end(), request.program.begin(), request.program.end());
    // By default (tree) some ranks leave PMIx's fence before others have entered it, and Open MPI crashes in MPI_Init,
    // 3 to 8 launches of 100: measured with Slurm 22.05, PMIx 4.2 and Open MPI 4.1.4.
    if (is_pmix(mpi) && std::getenv("SLURM_PMIX_FENCE") == nullptr)
      launch.environment.emplace_back("SLURM_PMIX_FENCE", "ring");
    return launch;
  }

 private:
  static bool fits(const LauncherOptions& options, const LaunchRequest& request) {
    const std::int64_t on_a_node = (request.ranks + request.nodes - 1) / request.nodes;
    return on_a_node * request.threads <= options.cores;
  }
};

FOURSCORE_REGISTER_LAUNCHER(SrunLauncher);

}  // namespace
}  // namespace fourscore
