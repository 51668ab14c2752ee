#include "simulation/collective_times.hpp"

#include <algorithm>
#include <bit>

namespace fourscore {

std::vector<double> dissemination_s(std::span<const Comer> comers, double bytes, const MessageOverheads& overheads,
                                    Backlogs& backlogs) {
  const std::size_t ranks = comers.size();
  std::vector<double> ready_s(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) ready_s[rank] = comers[rank].came_s;
  for (std::size_t step = 1; step < ranks; step *= 2) {
    std::vector<double> next_s = ready_s;
    for (std::size_t from = 0; from < ranks; ++from) {
      const std::size_t to = (from + step) % ranks;
      const double begin_s = std::max(ready_s[from] + overheads.send_s, ready_s[to]);
      const double arrival_s = backlogs.arrival_s({begin_s, bytes, comers[from].host, comers[to].host});
      next_s[from] = std::max(next_s[from], arrival_s);
      next_s[to] = std::max(next_s[to], arrival_s + overheads.receive_s);
    }
    ready_s = std::move(next_s);
  }
  return ready_s;
}

std::vector<double> binomial_tree_s(std::span<const Comer> comers, std::size_t root, double bytes,
                                    const MessageOverheads& overheads, Backlogs& backlogs) {
  const std::size_t ranks = comers.size();
  std::vector<double> ready_s(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) ready_s[rank] = comers[rank].came_s;
  const auto of = [&](std::size_t from_root) { return (from_root + root) % ranks; };
  for (std::size_t step = std::bit_ceil(ranks) / 2; step > 0; step /= 2)
    for (std::size_t receiver = step; receiver < ranks; receiver += 2 * step) {
      const std::size_t from = of(receiver - step), to = of(receiver);
      const double begin_s = std::max(ready_s[from] + overheads.send_s, ready_s[to]);
      ready_s[from] = backlogs.arrival_s({begin_s, bytes, comers[from].host, comers[to].host});
      ready_s[to] = ready_s[from] + overheads.receive_s;
    }
  return ready_s;
}

}  // namespace fourscore
