#include "simulation/simgrid/simulate.hpp"

#include <fmt/format.h>
#include <smpi/smpi.h>
#include <xbt/log.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <simgrid/s4u.hpp>

// After the macros that it takes.
#include <simgrid/version.h>

#include "core/errors.hpp"
#include "core/phase.hpp"
#include "harness/simulated.hpp"
#include "simulation/host_order.hpp"
#include "simulation/link_loads.hpp"
#include "simulation/platform.hpp"
#include "simulation/simgrid/carried_messages.hpp"
#include "simulation/simgrid/network_zone.hpp"
#include "simulation/simgrid/shared_communicators.hpp"
#include "simulation/simgrid/simulated_threads.hpp"

namespace fourscore {
namespace {

namespace s4u = simgrid::s4u;
constexpr const char* instance = "fourscore";

std::int64_t simulated_now_ns() {
  const double now_s = s4u::this_actor::is_maestro() ? s4u::Engine::get_clock() : thread_now_s();
  return std::llround(now_s * 1e9);
}

/// Configures SimGrid and its MPI: time passes by messages and by what the harness charges, and by nothing else.
/// Bandwidth and latency are those of the links: no factor of a measured machine is applied.
void configure(const Platform& platform) {
  const auto set = [](const char* name, const std::string& value) {
    s4u::Engine::set_config(fmt::format("{}:{}", name, value));
  };
  set("network/model", "SMPI");
  set("network/crosstraffic", "no");
  set("network/TCP-gamma", "0");
  set("surf/precision", "1e-12");
  set("smpi/simulate-computation", "no");
  set("smpi/wtime", "0");
  set("smpi/privatization", "no");
  set("smpi/init", "0");
  // By trees and in log2(p) steps, where the defaults send from every rank to one, or to every other.
  set("smpi/bcast", "binomial_tree");
  set("smpi/reduce", "binomial");
  set("smpi/allreduce", "rdb");
  set("smpi/gather", "ompi_binomial");
  set("smpi/scatter", "ompi_binomial");
  set("smpi/allgather", "bruck");
  set("smpi/barrier", "ompi_bruck");
  set("smpi/alltoallv", "ompi_basic_linear");
  set("smpi/or", fmt::format("0:{}:0", platform.receive_overhead_s));
  set("smpi/os", fmt::format("0:{}:0", platform.send_overhead_s));
  set("smpi/ois", fmt::format("0:{}:0", platform.send_overhead_s));
  set("smpi/send-is-detached-thresh", fmt::format("{}", std::max(platform.eager_limit_bytes, 1)));
  set("smpi/async-small-thresh", fmt::format("{}", std::max(platform.eager_limit_bytes, 1)));
  // What a rank that polls spends each time it finds nothing.
  set("smpi/test", "1e-6");
  set("smpi/iprobe", "1e-6");
  set("smpi/grow-injected-times", "no");
  set("contexts/stack-size", "1024");
}

int node_of(const Simulation& simulation, int rank) {
  const int most = (simulation.ranks + simulation.nodes - 1) / simulation.nodes;
  const int longer = simulation.ranks - (most - 1) * simulation.nodes;  // nodes with `most` ranks
  return rank < longer * most ? rank / most : longer + (rank - longer * most) / std::max(most - 1, 1);
}

SimulatedMachine machine_of(const Simulation& simulation, const Platform& platform) {
  SimulatedMachine machine;
  machine.identity = {{"simulator", fmt::format("SimGrid {}.{}.{}", SIMGRID_VERSION_MAJOR, SIMGRID_VERSION_MINOR,
                                                SIMGRID_VERSION_PATCH)},
                      {"platform", platform.content},
                      {"platform_name", platform.name}};
  machine.hosts = {{"count", platform.network.hosts}, {"order", to_string(simulation.host_order)}};
  if (!platform.network.extents.empty()) machine.hosts["extents"] = platform.network.extents;
  if (simulation.host_order == HostOrder::random) machine.hosts["seed"] = simulation.seed;
  machine.platform = simulation.platform;
  machine.host_order = simulation.host_order;
  machine.flops_per_s = platform.flops_per_s;
  machine.memory_bandwidth_bytes_per_s = platform.memory_bandwidth_bytes_per_s;
  machine.cores = platform.cores;
  machine.nodes = simulation.nodes;
  for (int rank = 0; rank < simulation.ranks; ++rank) machine.node_of_rank.push_back(node_of(simulation, rank));
  machine.work = work;
  machine.listen_to_threads = [](auto listener) { this_rank().listener = std::move(listener); };
  machine.enter_exchange = [](int number) { this_rank().exchange = number; };
  machine.link_loads = [] { return link_loads_json(*message_network().backlogs); };
  return machine;
}

}  // namespace

int simulate(const Simulation& simulation, const std::function<int()>& rank_main) {
  if (simulation.nodes > simulation.ranks)
    throw InputError(fmt::format("{} ranks on {} nodes; expected a rank for each", simulation.ranks, simulation.nodes));
  const Platform platform = fitted(read_platform(find_platform(simulation.platform)), simulation.nodes);
  const std::vector<int> hosts = host_order(platform.network, simulation.nodes, simulation.host_order, simulation.seed);

  static std::string program = "fourscore";
  static char* arguments[] = {program.data(), nullptr};
  int count = 1;
  s4u::Engine engine(&count, arguments);
  xbt_log_control_set("root.thresh:warning");
  smpi_init_options();  // which declares them
  configure(platform);

  SMPI_init();
  const SimulatedNetwork network = build_network(platform);
  simulate_machine(machine_of(simulation, platform));
  PhaseClock::use_clock(simulated_now_ns);
  SMPI_app_instance_register(instance, nullptr, simulation.ranks);
  std::vector<s4u::Host*> host_of_rank;
  std::vector<std::size_t> number_of_host;
  for (const int node : simulated_machine()->node_of_rank) {
    number_of_host.push_back(static_cast<std::size_t>(hosts[static_cast<std::size_t>(node)]));
    host_of_rank.push_back(network.hosts[number_of_host.back()]);
  }
  carry_messages(platform, network.backlogs);
  share_world(number_of_host);
  simulate_threads(platform);
  std::vector<SimulatedRank> ranks(static_cast<std::size_t>(simulation.ranks));
  int code = 0;
  for (int rank = 0; rank < simulation.ranks; ++rank) {
    const auto number = static_cast<std::size_t>(rank);
    ranks[number].number = number;
    ranks[number].host = number_of_host[number];
    const auto actor = s4u::Actor::init(fmt::format("rank {}", rank), host_of_rank[number]);
    actor->set_property("instance_id", instance);
    actor->set_property("rank", std::to_string(rank));
    actor->start([&code, &rank_main, &own = ranks[number]] {
      SimulatedThread thread{&own};
      be_thread(thread);
      code = std::max(code, rank_main());
    });
  }
  s4u::Engine::on_deadlock_cb([] {
    const std::string& noted = noted_of_deadlock();
    std::fprintf(stderr, "fourscore: the simulated ranks wait for each other in vain%s%s\n", noted.empty() ? "" : ": ",
                 noted.c_str());
    std::fflush(nullptr);
    std::_Exit(3);
  });
  engine.run();
  SMPI_finalize();
  PhaseClock::use_clock(nullptr);
  return code;
}

}  // namespace fourscore
