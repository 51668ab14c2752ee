// Two-dimensional decomposition (czechowski2012, section 3): z-pencils on a P1 x P2 grid, an exchange within each row
// gives y-pencils, an exchange within each column x-pencils. Of two extents it cuts both (gupta1993, appendix C): the
// rows are made whole among the ranks that hold parts of them, and the columns by an exchange among all ranks.

#include <fmt/format.h>

#include <algorithm>

#include "chain/pencil_grids.hpp"

namespace fourscore {

namespace {

/// Every rank has elements in all three layouts.
bool fits(const Problem& problem, const Grid& grid) {
  const Extents n = problem.complex_extents();
  if (problem.shape.size() == 2) return grid.ranks() <= std::min(n[0], n[1]);
  return fits_pencils(n, grid);
}

/// Of two extents P x 1 would be slabs: the most square grid, with more rows than columns.
std::optional<Grid> planar_grid(const Problem& problem, int ranks) {
  for (const Grid& grid : two_dimensional_grids(ranks))
    if (grid.extents[0] >= grid.extents[1] && fits(problem, grid)) return grid;
  return std::nullopt;
}

std::optional<Grid> grid_of(const Problem& problem, int ranks) {
  if (problem.grid.empty() && problem.shape.size() == 2) return planar_grid(problem, ranks);
  return pencil_grid(problem, ranks, [&](const Grid& grid) { return fits(problem, grid); });
}

/// Part `inner` of `inner_parts` of part `outer` of `outer_parts`.
Range nested_range(Index n, int outer_parts, int outer, int inner_parts, int inner) {
  const Range range = block_range(n, outer_parts, outer);
  const Range part = block_range(range.size(), inner_parts, inner);
  return {range.low + part.low, range.low + part.high};
}

/// Blocks, whole rows, whole columns. A rank's rows lie in its row of the grid, its columns in its column.
std::vector<ChainStage> planar_stages(const Problem& problem, const Grid& grid) {
  const Extents shape = problem.complex_extents();
  Decomposition rows;
  rows.shape = shape;
  rows.name = "rows " + grid_text({grid.extents[0], grid.extents[1]});
  Decomposition columns = rows;
  columns.name = "columns " + grid_text({grid.extents[0], grid.extents[1]});
  for (int rank = 0; rank < grid.ranks(); ++rank) {
    const auto place = grid.coordinates(rank);
    const Range row = nested_range(shape[0], grid.extents[0], place[0], grid.extents[1], place[1]);
    const Range column = nested_range(shape[1], grid.extents[1], place[1], grid.extents[0], place[0]);
    rows.boxes.push_back({{row.low, 0, 0}, {row.high, shape[1], 1}});
    columns.boxes.push_back({{0, column.low, 0}, {shape[0], column.high, 1}});
  }
  const Decomposition blocks = decompose(shape, grid);
  std::vector<ChainStage> forward{{blocks, {}}, {rows, {1}}, {columns, {0}}};
  if (problem.contract.layout == LayoutContract::transposed) return arrange_stages(problem, std::move(forward));
  // Back to blocks there is a way within the columns of the grid, which does not pass through whole rows.
  forward.push_back({blocks, {}});
  if (problem.real_output()) std::ranges::reverse(forward);  // the halved axis must come last
  return merge_stages(std::move(forward));
}

class Pencil : public Variant {
 public:
  [[nodiscard]] Card card() const override {
    return {"pencil",
            "z-pencils on any P1 x P2 grid, two exchanges (one where P1 or P2 is 1); transposed: left in x-pencils; "
            "of two extents blocks, rows, columns",
            "czechowski2012"};
  }

  [[nodiscard]] std::vector<Kind> kinds() const override { return {Kind::c2c, Kind::r2c}; }

  [[nodiscard]] std::size_t grid_entries(const Problem& /*problem*/, int /*ranks*/) const override { return 2; }
  [[nodiscard]] std::optional<std::string> supports(const Problem& problem, int ranks) const override {
    if (auto reason = chain_limits(problem, 2, 3)) return reason;
    if (grid_of(problem, ranks)) return std::nullopt;
    const Extents n = problem.complex_extents();
    if (problem.shape.size() == 2)
      return fmt::format("{} ranks are more than pencil can use: {} for shape {}, the smaller of its extents", ranks,
                         std::min(n[0], n[1]), shape_text(problem.shape));
    const std::string limits = fmt::format("P1 x P2 with P1 at most {} and P2 at most {} for shape {}",
                                           std::min(n[0], n[1]), std::min(n[1], n[2]), shape_text(problem.shape));
    if (problem.grid.empty())
      return fmt::format("{} ranks are more than pencil can use, or do not factor: it takes {}", ranks, limits);
    return fmt::format("grid {} has more ranks than pencil can use: it takes {}", grid_text(problem.grid), limits);
  }

  [[nodiscard]] std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    const Problem& problem = context.problem;
    const auto grid = fitting_grid(problem, mpi::size_of(context.comm));
    const TransformChain::Options options{{grid.extents[0], grid.extents[1]}, false};
    if (problem.shape.size() == 2)
      return std::make_unique<TransformChain>(context, planar_stages(problem, grid), options);
    return std::make_unique<TransformChain>(
        context, arrange_stages(problem, pencil_stages(problem.complex_extents(), grid)), options);
  }

  /// Equation 1 for the flops, and for the exchanges the n^3/P words each of equation 3, less what stays on the rank:
  /// among P2 ranks in a row, among P1 in a column. The way back to natural order doubles them. Of two extents: n/p
  /// words in each exchange too (gupta1993, appendix C and section 5), among P2 ranks in a row, then among all, and to
  /// natural order among P1 in a column.
  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const override {
    const Grid grid = fitting_grid(problem, ranks);
    const Cost row = even_exchange_cost(problem, ranks, grid.extents[1]);
    const Cost column = even_exchange_cost(problem, ranks, grid.extents[0]);
    if (problem.shape.size() == 2) {
      const Cost all = even_exchange_cost(problem, ranks, ranks);
      Cost cost{problem.credited_flops(), row.bytes_per_rank + all.bytes_per_rank,
                row.messages_per_rank + all.messages_per_rank};
      if (problem.contract.layout == LayoutContract::natural) {
        cost.bytes_per_rank += column.bytes_per_rank;
        cost.messages_per_rank += column.messages_per_rank;
      }
      return cost;
    }
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
