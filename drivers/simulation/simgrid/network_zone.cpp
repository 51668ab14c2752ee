#include "simulation/simgrid/network_zone.hpp"

#include <fmt/format.h>

#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>

namespace fourscore {
namespace {

namespace routing = simgrid::kernel::routing;
using simgrid::s4u::Host;
using simgrid::s4u::Link;

/// For SimGrid, each message takes one link, its sender's, whose latency is a second and whose bandwidth is endless;
/// the factor on the latency is what the message takes.
class NetworkZone : public routing::NetZoneImpl {
 public:
  NetworkZone() : NetZoneImpl("network") {}

  SimulatedNetwork build(const Platform& platform) {
    SimulatedNetwork network{{}, std::make_shared<Backlogs>(platform)};
    constexpr double endless_bytes_per_s = 1e18;
    for (int host = 0; host < platform.network.hosts; ++host) {
      Host* const made = create_host(fmt::format("h{}", host), std::vector<double>{platform.flops_per_s});
      network.hosts.push_back(made->seal());
      Link* const link = create_link(fmt::format("l{}", host), {endless_bytes_per_s});
      ways_out_.push_back(link->set_sharing_policy(Link::SharingPolicy::FATPIPE)->set_latency(1)->seal());
    }
    auto* const model = get_iface()->get_network_model();
    const auto latency_s = [backlogs = network.backlogs](double bytes, const Host* from, const Host* to, const auto&,
                                                         const auto&) {
      const double now_s = simgrid::s4u::Engine::get_clock();
      return backlogs->arrival_s({now_s, bytes, from->get_netpoint()->id(), to->get_netpoint()->id()}) - now_s;
    };
    model->set_lat_factor_cb(latency_s);
    model->set_bw_factor_cb([](double, const Host*, const Host*, const auto&, const auto&) { return 1.0; });
    return network;
  }

  void get_local_route(const routing::NetPoint* from, const routing::NetPoint* /*to*/, routing::Route* into,
                       double* latency_s) override {
    into->link_list_.push_back(ways_out_[from->id()]->get_impl());
    if (latency_s != nullptr) *latency_s += 1;
  }

 private:
  std::vector<Link*> ways_out_;
};

}  // namespace

SimulatedNetwork build_network(const Platform& platform) {
  // The engine owns it: its root zone is the first that is made.
  auto* const zone = new NetworkZone();
  SimulatedNetwork network = zone->build(platform);
  zone->seal();
  return network;
}

}  // namespace fourscore
