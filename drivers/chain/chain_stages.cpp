// What variants say of a chain before there is a plan: its stages, its limits and its cost.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "chain/transform_chain.hpp"

namespace fourscore {

std::vector<ChainStage> arrange_stages(const Problem& problem, std::vector<ChainStage> forward) {
  std::vector<ChainStage> stages = std::move(forward);
  if (problem.contract.layout == LayoutContract::natural) {
    for (std::size_t i = stages.size() - 1; i-- > 0;) stages.push_back({stages[i].layout, {}});
  }
  const bool starts_where_forward_ends = problem.contract.layout == LayoutContract::transposed;
  if (problem.direction == Direction::backward && (starts_where_forward_ends || problem.real_output()))
    std::ranges::reverse(stages);
  return merge_stages(std::move(stages));
}

std::vector<ChainStage> merge_stages(std::vector<ChainStage> stages) {
  std::vector<ChainStage> merged;
  for (ChainStage& stage : stages) {
    if (!merged.empty() && merged.back().layout.boxes == stage.layout.boxes)
      merged.back().axes.insert(merged.back().axes.end(), stage.axes.begin(), stage.axes.end());
    else
      merged.push_back(std::move(stage));
  }
  return merged;
}

std::optional<std::string> chain_limits(const Problem& problem, std::size_t min_extents, std::size_t max_extents) {
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

Cost even_exchange_cost(const Problem& problem, int ranks, int group) {
  const Extents n = problem.complex_extents();
  const double share_bytes =
      static_cast<double>(n[0] * n[1] * n[2]) * static_cast<double>(problem.element_bytes()) / ranks;
  return {0, share_bytes * (group - 1) / group, static_cast<double>(group - 1)};
}

}  // namespace fourscore
