#pragma once
// When ranks may leave a collective call that all of them have come to, by the messages that it would send.

#include <cstddef>
#include <span>
#include <vector>

#include "simulation/backlogs.hpp"

namespace fourscore {

/// A rank's own time for each message.
struct MessageOverheads {
  double send_s = 0;
  double receive_s = 0;
};

/// A rank that has come to a call.
struct Comer {
  std::size_t host = 0;
  double came_s = 0;
};

/// By dissemination: in ceil(log2 p) rounds each rank sends to the one that is twice as far away as in the round
/// before. The seconds at which each leaves.
[[nodiscard]] std::vector<double> dissemination_s(std::span<const Comer> comers, double bytes,
                                                  const MessageOverheads& overheads, Backlogs& backlogs);
/// The time from one rank to all, along a binomial tree.
[[nodiscard]] std::vector<double> binomial_tree_s(std::span<const Comer> comers, std::size_t root, double bytes,
                                                  const MessageOverheads& overheads, Backlogs& backlogs);

}  // namespace fourscore
