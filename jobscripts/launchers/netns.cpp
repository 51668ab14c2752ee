// mpirun of Open MPI or of MPICH on the hosts of a laboratory (docs/laboratory.md), which each launch sets up anew.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "core/installed.hpp"
#include "jobscripts/base/rate.hpp"
#include "jobscripts/laboratory/laboratory.hpp"
#include "jobscripts/launchers/launcher.hpp"
#include "jobscripts/launchers/mpirun/mpirun.hpp"

namespace fourscore {
namespace {

/// 3 of "h3"; 0 for what is no host of a laboratory.
int number_of_host(const std::string& host) {
  for (int number = 1; number <= most_laboratory_hosts; ++number)
    if (laboratory_host(number) == host) return number;
  return 0;
}

std::vector<std::string> hosts_of(const LaunchRequest& request) {
  if (!request.hosts.empty()) return request.hosts;
  std::vector<std::string> hosts;
  for (int number = 1; number <= request.nodes; ++number) hosts.push_back(laboratory_host(number));
  return hosts;
}

/// As many on each host; where that does not divide, one more on each of the first.
int ranks_of_host(const LaunchRequest& request, int index) {
  return request.ranks / request.nodes + (index < request.ranks % request.nodes ? 1 : 0);
}

/// Cores of each host, none of them another's; 0 where there are not enough: then the hosts share all.
int cores_of_host(const LauncherOptions& options, const LaunchRequest& request) {
  const std::int64_t cores = std::int64_t{ranks_of_host(request, 0)} * request.threads;
  return cores * request.nodes <= options.cores ? static_cast<int>(cores) : 0;
}

class NetnsLauncher : public Launcher {
 public:
  [[nodiscard]] Card card() const override {
    return {"netns", "mpirun on hosts that this machine pretends to be: network namespaces and links of a chosen rate",
            "ip-netns(8), tc-tbf(8)"};
  }

  using Launcher::unavailable;
  [[nodiscard]] std::string unavailable(const LauncherOptions& options) const override {
    if (const std::string problem = laboratory_unavailable(); !problem.empty()) return problem;
    return find_mpirun(options).problem;
  }

  [[nodiscard]] Reason refuses(const LauncherOptions&, const LaunchRequest& request) const override {
    if (request.nodes > most_laboratory_hosts)
      return fmt::format("a laboratory has at most {} hosts, and not {}", most_laboratory_hosts, request.nodes);
    if (!request.hosts.empty() && request.hosts.size() != static_cast<std::size_t>(request.nodes))
      return fmt::format("{} hosts are named for {} nodes", request.hosts.size(), request.nodes);
    for (const auto& host : request.hosts)
      if (number_of_host(host) == 0)
        return fmt::format("no host of a laboratory is named '{}'; they are h1, h2, ...", host);
    if (request.placement == RankPlacement::socket) return "it binds no rank to a socket";
    return {};
  }

  [[nodiscard]] Reason refuses_mpi(const LauncherOptions& options, const std::string& mpi) const override {
    return fourscore::refuses_mpi(find_mpirun(options), mpi);
  }

  [[nodiscard]] std::string interconnect(const LauncherOptions& options) const override {
    return laboratory_interconnect(options.machine.rate);
  }

  [[nodiscard]] LaunchCommand command(const LauncherOptions& options, const LaunchRequest& request) const override {
    LaunchCommand launch{{(own_folder() / "fourscore").string(), "laboratory"},
                         {{"OMP_NUM_THREADS", std::to_string(request.threads)}}};
    const auto add = [&launch](const std::vector<std::string>& more) {
      launch.argv.insert(launch.argv.end(), more.begin(), more.end());
    };
    const auto hosts = hosts_of(request);
    int most = 0;
    for (const auto& host : hosts) most = std::max(most, number_of_host(host));
    add({"--hosts", std::to_string(most)});
    if (!options.machine.rate.empty()) add({"--rate", options.machine.rate});
    const int cores = cores_of_host(options, request);
    if (cores > 0 && hosts.size() > 1) add({"--cores", std::to_string(cores)});
    for (const auto& folder : options.machine.shared) add({"--share", folder});
    for (const auto& folder : folders_named_by(request.program)) add({"--share", folder.string()});
    add({"--"});
    add(mpirun_words(find_mpirun(options), hosts, request, hosts.size() == 1 && cores > 0));
    add(options.machine.launch_options);
    add({"-n", std::to_string(request.ranks)});
    add(request.program);
    return launch;
  }

 private:
  /// With several hosts, the laboratory binds a host's ranks to its cores: mpirun would bind those of each host to the
  /// first ones. `bound`: mpirun binds.
  static std::vector<std::string> mpirun_words(const Mpirun& mpirun, const std::vector<std::string>& hosts,
                                               const LaunchRequest& request, bool bound) {
    const bool cyclic = request.placement == RankPlacement::cyclic;
    const bool open_mpi = mpirun.flavour == MpirunFlavour::open_mpi;
    std::vector<std::string> with_slots;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      // Hydra goes round the hosts, with so many ranks at each turn.
      const int slots = cyclic && !open_mpi ? 1 : ranks_of_host(request, static_cast<int>(i));
      with_slots.push_back(fmt::format("{}:{}", hosts[i], slots));
    }
    const std::string list = fmt::format("{}", fmt::join(with_slots, ","));
    const int threads = request.threads;
    if (!open_mpi) {
      const std::string cores = threads == 1 ? "core" : fmt::format("core:{}", threads);
      return {mpirun.path, "-hosts", list, "-bind-to", bound ? cores : "none"};
    }
    std::vector<std::string> words{mpirun.path};
    if (::geteuid() == 0) words.emplace_back("--allow-run-as-root");
    const std::string cores = threads == 1 ? "core" : fmt::format("slot:PE={}", threads);
    const std::string map = bound ? cores : cyclic ? "node" : "slot";
    for (const std::string& word : {std::string("--host"), list, std::string("--map-by"), map, std::string("--bind-to"),
                                    std::string(bound ? "core" : "none")})
      words.push_back(word);
    return words;
  }
};

FOURSCORE_REGISTER_LAUNCHER(NetnsLauncher);

}  // namespace
}  // namespace fourscore
