#include "simulation/backlogs.hpp"

#include <algorithm>
#include <functional>

namespace fourscore {

Backlogs::Backlogs(const Platform& platform) : platform_(platform), topology_(make_topology(platform.network)) {
  idle_at_s_.resize(static_cast<std::size_t>(topology_->links()));
  if (platform.injection_bandwidth_bytes_per_s > 0)
    out_idle_at_s_.resize(static_cast<std::size_t>(platform.network.hosts));
  in_idle_at_s_ = out_idle_at_s_;
}

double Backlogs::send(const Message& message) {
  // Within a host it is copied: read and written.
  if (message.from == message.to) return message.begin_s + 2 * message.bytes / platform_.memory_bandwidth_bytes_per_s;
  double drained_s = message.begin_s;
  const auto take = [&](double& idle_at_s, double bytes_per_s) {
    idle_at_s = std::max(idle_at_s, message.begin_s) + message.bytes / bytes_per_s;
    drained_s = std::max(drained_s, idle_at_s);
  };
  route_.clear();
  topology_->route(static_cast<int>(message.from), static_cast<int>(message.to), route_);
  for (const std::int64_t link : route_)
    take(idle_at_s_[static_cast<std::size_t>(link)], platform_.link_bandwidth_bytes_per_s);
  if (!out_idle_at_s_.empty()) {
    take(out_idle_at_s_[message.from], platform_.injection_bandwidth_bytes_per_s);
    take(in_idle_at_s_[message.to], platform_.injection_bandwidth_bytes_per_s);
  }
  const double arrival_s = drained_s + platform_.link_latency_s * static_cast<double>(route_.size());
  if (message.exchange >= 0) add_load(message, arrival_s);
  return arrival_s;
}

/// Along the route that is in hand.
void Backlogs::add_load(const Message& message, double arrival_s) {
  const auto exchange = static_cast<std::size_t>(message.exchange);
  if (exchange >= loads_.size()) loads_.resize(exchange + 1);
  ExchangeLoads& load = loads_[exchange];
  if (load.bytes.empty()) {
    load.bytes.resize(idle_at_s_.size());
    load.first_begin_s = message.begin_s;
  }
  load.first_begin_s = std::min(load.first_begin_s, message.begin_s);
  load.last_arrival_s = std::max(load.last_arrival_s, arrival_s);
  for (const std::int64_t link : route_) load.bytes[static_cast<std::size_t>(link)] += message.bytes;
}

double Backlogs::arrival_s(const Message& message) {
  begun_until(message.begin_s);
  return send(message);
}

void Backlogs::announce(const Message& message, double* arrival_s) {
  announced_.push({message, announcements_++, arrival_s});
}

void Backlogs::begun_until(double now_s) {
  while (!announced_.empty() && announced_.top().message.begin_s <= now_s) {
    const Announced next = announced_.top();
    announced_.pop();
    *next.arrival_s = send(next.message);
  }
}

}  // namespace fourscore
