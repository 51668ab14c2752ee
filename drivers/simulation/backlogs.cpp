#include "simulation/backlogs.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

namespace fourscore {

namespace {

/// The first gap of `seconds` from `ready_s` on is taken; returns its end. What is over at `past_s` is forgotten.
double take_gap(std::map<double, double>& busy_s, double past_s, double ready_s, double seconds) {
  while (!busy_s.empty() && busy_s.begin()->second <= past_s) busy_s.erase(busy_s.begin());
  double begin_s = ready_s;
  for (const auto& [from_s, to_s] : busy_s) {
    if (from_s - begin_s >= seconds) break;
    begin_s = std::max(begin_s, to_s);
  }
  const double end_s = begin_s + seconds;
  auto next = busy_s.upper_bound(begin_s);
  const bool joins_next = next != busy_s.end() && next->first == end_s;
  const double whole_end_s = joins_next ? next->second : end_s;
  if (joins_next) next = busy_s.erase(next);
  if (next != busy_s.begin() && std::prev(next)->second == begin_s)
    std::prev(next)->second = whole_end_s;
  else
    busy_s.emplace(begin_s, whole_end_s);
  return end_s;
}

}  // namespace

Backlogs::Backlogs(const Platform& platform) : platform_(platform), topology_(make_topology(platform.network)) {
  const auto links = static_cast<std::size_t>(topology_->links());
  if (platform.stores_and_forwards)
    busy_s_.resize(links);
  else
    idle_at_s_.resize(links);
  if (platform.injection_bandwidth_bytes_per_s > 0)
    out_idle_at_s_.resize(static_cast<std::size_t>(platform.network.hosts));
  in_idle_at_s_ = out_idle_at_s_;
}

double Backlogs::send(const Message& message) {
  // Within a host it is copied: read and written.
  if (message.from == message.to) return message.begin_s + 2 * message.bytes / platform_.memory_bandwidth_bytes_per_s;
  route_.clear();
  topology_->route(static_cast<int>(message.from), static_cast<int>(message.to), route_);
  const double arrival_s = platform_.stores_and_forwards ? store_and_forward(message) : cut_through(message);
  if (message.exchange >= 0) add_load(message, arrival_s);
  return arrival_s;
}

double Backlogs::cut_through(const Message& message) {
  double drained_s = message.begin_s;
  const auto take = [&](double& idle_at_s, double bytes_per_s) {
    idle_at_s = std::max(idle_at_s, message.begin_s) + message.bytes / bytes_per_s;
    drained_s = std::max(drained_s, idle_at_s);
  };
  for (const std::int64_t link : route_)
    take(idle_at_s_[static_cast<std::size_t>(link)], platform_.link_bandwidth_bytes_per_s);
  if (!out_idle_at_s_.empty()) {
    take(out_idle_at_s_[message.from], platform_.injection_bandwidth_bytes_per_s);
    take(in_idle_at_s_[message.to], platform_.injection_bandwidth_bytes_per_s);
  }
  return drained_s + platform_.link_latency_s * static_cast<double>(route_.size());
}

/// Into the network and out of it, the host's own bandwidth is one more link.
double Backlogs::store_and_forward(const Message& message) {
  double ready_s = message.begin_s;
  const auto inject = [&](std::vector<double>& idle_at_s, std::size_t host) {
    if (idle_at_s.empty()) return;
    ready_s = std::max(idle_at_s[host], ready_s) + message.bytes / platform_.injection_bandwidth_bytes_per_s;
    idle_at_s[host] = ready_s;
  };
  inject(out_idle_at_s_, message.from);
  for (const std::int64_t link : route_)
    ready_s = take_gap(busy_s_[static_cast<std::size_t>(link)], message.begin_s, ready_s,
                       message.bytes / platform_.link_bandwidth_bytes_per_s) +
              platform_.link_latency_s;
  inject(in_idle_at_s_, message.to);
  return ready_s;
}

/// Along the route that is in hand.
void Backlogs::add_load(const Message& message, double arrival_s) {
  const auto exchange = static_cast<std::size_t>(message.exchange);
  if (exchange >= loads_.size()) loads_.resize(exchange + 1);
  ExchangeLoads& load = loads_[exchange];
  if (load.bytes.empty()) {
    load.bytes.resize(static_cast<std::size_t>(topology_->links()));
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
