#include "simulation/simgrid/network_zone.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>

namespace fourscore {
namespace {

namespace routing = simgrid::kernel::routing;
using simgrid::s4u::Host;
using simgrid::s4u::Link;

/// When a message arrives that begins now.
class Backlogs {
 public:
  explicit Backlogs(const Platform& platform) : platform_(platform), loads_(std::make_shared<LinkLoads>()) {
    loads_->topology = make_topology(platform.network);
    loads_->bytes.resize(static_cast<std::size_t>(loads_->topology->links()));
    loads_->idle_at_s.resize(loads_->bytes.size());
    if (platform.injection_bandwidth_bytes_per_s > 0)
      out_idle_at_s_.resize(static_cast<std::size_t>(platform.network.hosts));
    in_idle_at_s_ = out_idle_at_s_;
  }
  [[nodiscard]] std::shared_ptr<LinkLoads> loads() const { return loads_; }

  double transfer_s(double bytes, std::size_t from, std::size_t to) {
    // Within a host it is copied: read and written.
    if (from == to) return 2 * bytes / platform_.memory_bandwidth_bytes_per_s;
    const double now_s = simgrid::s4u::Engine::get_clock();
    double arrived_s = now_s;
    const auto take = [&](double& idle_at_s, double bytes_per_s) {
      idle_at_s = std::max(idle_at_s, now_s) + bytes / bytes_per_s;
      arrived_s = std::max(arrived_s, idle_at_s);
    };
    route_.clear();
    loads_->topology->route(static_cast<int>(from), static_cast<int>(to), route_);
    for (const std::int64_t link : route_) {
      loads_->bytes[static_cast<std::size_t>(link)] += bytes;
      take(loads_->idle_at_s[static_cast<std::size_t>(link)], platform_.link_bandwidth_bytes_per_s);
    }
    if (!out_idle_at_s_.empty()) {
      take(out_idle_at_s_[from], platform_.injection_bandwidth_bytes_per_s);
      take(in_idle_at_s_[to], platform_.injection_bandwidth_bytes_per_s);
    }
    return arrived_s - now_s + platform_.link_latency_s * static_cast<double>(route_.size());
  }

 private:
  Platform platform_;
  std::shared_ptr<LinkLoads> loads_;
  std::vector<double> out_idle_at_s_, in_idle_at_s_;  // of the hosts' injection, where it is limited
  std::vector<std::int64_t> route_;                   // of the message in hand
};

/// To SimGrid each message takes one link, its sender's, whose latency is a second and whose bandwidth is endless; the
/// factor on the latency is what the message takes.
class NetworkZone : public routing::NetZoneImpl {
 public:
  NetworkZone() : NetZoneImpl("network") {}

  SimulatedNetwork build(const Platform& platform) {
    auto backlogs = std::make_shared<Backlogs>(platform);
    SimulatedNetwork network{{}, backlogs->loads()};
    constexpr double endless_bytes_per_s = 1e18;
    for (int host = 0; host < platform.network.hosts; ++host) {
      Host* const made = create_host(fmt::format("h{}", host), std::vector<double>{platform.flops_per_s});
      network.hosts.push_back(made->seal());
      Link* const link = create_link(fmt::format("l{}", host), {endless_bytes_per_s});
      ways_out_.push_back(link->set_sharing_policy(Link::SharingPolicy::FATPIPE)->set_latency(1)->seal());
    }
    auto* const model = get_iface()->get_network_model();
    model->set_lat_factor_cb([backlogs](double bytes, const Host* from, const Host* to, const auto&, const auto&) {
      return backlogs->transfer_s(bytes, from->get_netpoint()->id(), to->get_netpoint()->id());
    });
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
