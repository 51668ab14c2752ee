// Two-dimensional decomposition (czechowski2012, section 2): z-pencils on a P1 x P2 grid, an exchange within each row
// gives y-pencils, an exchange within each column x-pencils.

#include <fmt/format.h>

#include <algorithm>

#include "core/transform_chain.hpp"

namespace fourscore {

namespace {

/// Every rank has elements in all three layouts.
bool fits(const Problem& problem, const Grid& grid) {
  const Extents n = problem.complex_extents();
  return grid.extents[0] <= std::min(n[0], n[1]) && grid.extents[1] <= std::min(n[1], n[2]);
}

/// With one row or one column there is one exchange instead of two, so that each element moves once: P x 1 first,
/// whose pieces are contiguous planes, then 1 x P, then the most square grid, whose messages are fewest.
std::optional<Grid> chosen_grid(const Problem& problem, int ranks) {
  std::vector<Grid> candidates{{{ranks, 1, 1}}, {{1, ranks, 1}}};
  const auto others = two_dimensional_grids(ranks);
  candidates.insert(candidates.end(), others.begin(), others.end());
  for (const Grid& grid : candidates)
    if (fits(problem, grid)) return grid;
  return std::nullopt;
}

std::optional<Grid> grid_of(const Problem& problem, int ranks) {
  require_grid(problem, ranks, 2);
  if (problem.grid.empty()) return chosen_grid(problem, ranks);
  const Grid grid{{problem.grid[0], problem.grid[1], 1}};
  return fits(problem, grid) ? std::optional(grid) : std::nullopt;
}

class Pencil : public Variant {
 public:
  [[nodiscard]] Card card() const override {
    return {"pencil",
            "z-pencils on any P1 x P2 grid, two exchanges (one where P1 or P2 is 1); transposed: left in x-pencils",
            "czechowski2012"};
  }

  [[nodiscard]] std::vector<Kind> kinds() const override { return {Kind::c2c, Kind::r2c}; }

  [[nodiscard]] std::optional<std::string> supports(const Problem& problem, int ranks) const override {
    if (auto reason = chain_limits(problem, 3, 3)) return reason;
    if (grid_of(problem, ranks)) return std::nullopt;
    const Extents n = problem.complex_extents();
    const std::string limits = fmt::format("P1 x P2 with P1 at most {} and P2 at most {} for shape {}",
                                           std::min(n[0], n[1]), std::min(n[1], n[2]), shape_text(problem.shape));
    if (problem.grid.empty())
      return fmt::format("{} ranks are more than pencil can use, or do not factor: it takes {}", ranks, limits);
    return fmt::format("grid {} has more ranks than pencil can use: it takes {}", grid_text(problem.grid), limits);
  }

  [[nodiscard]] std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    const Problem& problem = context.problem;
    const auto grid = fitting_grid(problem, mpi::size_of(context.comm));
    const int rows = grid.extents[0];
    const int columns = grid.extents[1];
    const Extents shape = problem.complex_extents();
    auto stages = arrange_stages(problem, {{decompose(shape, Grid{{rows, columns, 1}}), {2}},
                                           {decompose(shape, Grid{{rows, 1, columns}}), {1}},
                                           {decompose(shape, Grid{{1, rows, columns}}), {0}}});
    return std::make_unique<TransformChain>(context, std::move(stages),
                                            TransformChain::Options{{rows, columns}, false});
  }

  /// Equation 1 for the flops, and for the exchanges the n^3/P words each of equation 3, less what stays on the rank:
  /// among P2 ranks in a row, among P1 in a column. The way back to natural order doubles them.
  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const override {
    const Grid grid = fitting_grid(problem, ranks);
    const Cost row = even_exchange_cost(problem, ranks, grid.extents[1]);
    const Cost column = even_exchange_cost(problem, ranks, grid.extents[0]);
    const int times = problem.contract.layout == LayoutContract::natural ? 2 : 1;
    return {problem.credited_flops(), times * (row.bytes_per_rank + column.bytes_per_rank),
            times * (row.messages_per_rank + column.messages_per_rank)};
  }

 private:
  [[nodiscard]] Grid fitting_grid(const Problem& problem, int ranks) const {
    const auto grid = grid_of(problem, ranks);
    if (!grid) throw InputError(supports(problem, ranks).value_or("no grid fits"));
    return *grid;
  }
};

FOURSCORE_REGISTER_VARIANT(Pencil);

}  // namespace

}  // namespace fourscore
