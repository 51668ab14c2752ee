#include "chain/limits_and_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

namespace fourscore {

Reason chain_limits(const Problem& problem, std::size_t min_extents, std::size_t max_extents) {
  if (problem.shape.size() < min_extents || problem.shape.size() > max_extents) {
    const std::string wanted =
        min_extents == max_extents ? std::to_string(min_extents) : fmt::format("{} to {}", min_extents, max_extents);
    return fmt::format("shape {} has {} extents; this variant takes {}", shape_text(problem.shape),
                       problem.shape.size(), wanted);
  }
  return std::nullopt;
}

void require_grid(const Problem& problem, int ranks, std::size_t entries) {
  if (problem.grid.empty()) return;
  const std::string text = grid_text(problem.grid);
  if (problem.grid.size() != entries)
    throw GridError(fmt::format("grid {} has {} entries; this variant takes {} with a product of {}, or auto", text,
                                problem.grid.size(), entries, ranks));
  const int product = std::accumulate(problem.grid.begin(), problem.grid.end(), 1, std::multiplies<>());
  if (product != ranks)
    throw GridError(fmt::format("grid {} is for {} ranks, but there are {}; expected a product of {}", text, product,
                                ranks, ranks));
}

Reason slab_limits(const Problem& problem, int ranks, std::string_view variant) {
  require_grid(problem, ranks, 1);
  const Extents n = problem.complex_extents();
  const Index most = std::min(n[0], n[1]);
  if (ranks <= most) return std::nullopt;
  return fmt::format("{} ranks are more than {} can use: {} for shape {}, the smaller of its first two extents", ranks,
                     variant, most, shape_text(problem.shape));
}

bool fits_pencils(const Problem& problem, const Grid& grid) {
  const Extents n = problem.complex_extents();
  return grid.extents[0] <= std::min(n[0], n[1]) && grid.extents[1] <= std::min(n[1], n[2]);
}

std::optional<Grid> pencil_grid(const Problem& problem, int ranks, const std::function<bool(const Grid&)>& fits) {
  require_grid(problem, ranks, 2);
  std::vector<Grid> candidates;
  if (problem.grid.empty()) {
    candidates = {{{ranks, 1, 1}}, {{1, ranks, 1}}};
    const auto others = two_dimensional_grids(ranks);
    candidates.insert(candidates.end(), others.begin(), others.end());
  } else {
    candidates = {{{problem.grid[0], problem.grid[1], 1}}};
  }
  const auto first = std::ranges::find_if(candidates, fits);
  return first == candidates.end() ? std::nullopt : std::optional(*first);
}

std::optional<Grid> pencil_grid(const Problem& problem, int ranks) {
  return pencil_grid(problem, ranks, [&](const Grid& grid) { return fits_pencils(problem, grid); });
}

Reason pencil_limits(const Problem& problem, int ranks, std::string_view variant) {
  if (pencil_grid(problem, ranks)) return std::nullopt;
  const Extents n = problem.complex_extents();
  return fmt::format("{} on {} ranks does not fit: {} takes P1 x P2 with P1 at most {} and P2 at most {} for shape {}",
                     problem.grid.empty() ? "a grid" : "grid " + grid_text(problem.grid), ranks, variant,
                     std::min(n[0], n[1]), std::min(n[1], n[2]), shape_text(problem.shape));
}

Cost even_exchange_cost(const Problem& problem, int ranks, int group) {
  const Extents n = problem.complex_extents();
  const double share_bytes =
      static_cast<double>(n[0] * n[1] * n[2]) * static_cast<double>(problem.element_bytes()) / ranks;
  return {0, share_bytes * (group - 1) / group, static_cast<double>(group - 1)};
}

Cost cost_of_even_exchanges(const Problem& problem, int ranks, const std::vector<int>& groups) {
  Cost cost{problem.credited_flops(), 0, 0};
  for (const int group : groups) {
    const Cost exchange = even_exchange_cost(problem, ranks, group);
    cost.bytes_per_rank += exchange.bytes_per_rank;
    cost.messages_per_rank += exchange.messages_per_rank;
  }
  return cost;
}

Cost slab_cost(const Problem& problem, int ranks) { return pencil_cost(problem, ranks, Grid{{ranks, 1, 1}}); }

Cost pencil_cost(const Problem& problem, int ranks, const Grid& grid) {
  Cost cost = cost_of_even_exchanges(problem, ranks, {grid.extents[1], grid.extents[0]});
  if (problem.contract.layout == LayoutContract::natural) {
    cost.bytes_per_rank *= 2;
    cost.messages_per_rank *= 2;
  }
  return cost;
}

}  // namespace fourscore
