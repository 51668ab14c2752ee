#pragma once
// When messages arrive on a simulated network. SimGrid would share each link's bandwidth among the messages that are on
// it and solve for all of them whenever one begins or ends, which takes minutes for an all-to-all of a hundred ranks.
// Here a link has a backlog instead: a message adds its bytes to the backlog of every link on its way, and has arrived
// when the longest of them has drained, and its latency is over. The last of the messages that begin together arrives
// at the same time either way, which is what the most loaded link takes; the others arrive in the order in which they
// were sent, and not all at the end.
//
// Where nodes store and forward, a message takes its links one after another, each for as long as its bytes take there,
// as soon as the message is whole before it and the link has so long a gap.

#include <cstdint>
#include <map>
#include <memory>
#include <queue>
#include <vector>

#include "simulation/platform.hpp"
#include "simulation/topology.hpp"

namespace fourscore {

/// Names hosts by their numbers.
struct Message {
  double begin_s = 0;
  double bytes = 0;
  std::size_t from = 0, to = 0;
  int exchange = -1;  ///< the run whose link loads are kept; negative: none
};

/// What went over the links in one exchange of a run.
struct ExchangeLoads {
  std::vector<double> bytes;                     ///< by the topology's numbers
  double first_begin_s = 0, last_arrival_s = 0;  ///< over its messages
};

class Backlogs {
 public:
  explicit Backlogs(const Platform& platform);

  /// When a message arrives that begins now. Those announced for an earlier time go before it.
  [[nodiscard]] double arrival_s(const Message& message);
  /// Announces a message that begins now or later. `arrival_s` is written once begun_until() has passed its beginning.
  void announce(const Message& message, double* arrival_s);
  void begun_until(double now_s);

  /// By the number of the exchange.
  [[nodiscard]] const std::vector<ExchangeLoads>& loads() const { return loads_; }
  [[nodiscard]] double link_bandwidth_bytes_per_s() const { return platform_.link_bandwidth_bytes_per_s; }
  [[nodiscard]] const NetworkTopology& topology() const { return *topology_; }

 private:
  struct Announced {
    Message message;
    std::uint64_t number;
    double* arrival_s;
    bool operator>(const Announced& other) const {
      return message.begin_s != other.message.begin_s ? message.begin_s > other.message.begin_s : number > other.number;
    }
  };
  double send(const Message& message);
  double cut_through(const Message& message);
  double store_and_forward(const Message& message);
  void add_load(const Message& message, double arrival_s);

  Platform platform_;
  std::unique_ptr<NetworkTopology> topology_;
  using BusyTimes = std::map<double, double>;  // begin and end, apart from each other
  std::vector<BusyTimes> busy_s_;              // [link], where nodes store and forward
  std::vector<double> idle_at_s_;              // [link]
  std::vector<ExchangeLoads> loads_;
  std::vector<double> out_idle_at_s_, in_idle_at_s_;  // [host], of the injection, where it is limited
  std::vector<std::int64_t> route_;                   // the route of the message in hand
  std::priority_queue<Announced, std::vector<Announced>, std::greater<>> announced_;
  std::uint64_t announcements_ = 0;
};

}  // namespace fourscore
