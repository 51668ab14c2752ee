// Two-dimensional decomposition (czechowski2012, section 3): z-pencils on a P1 x P2 grid, an exchange within each row
// gives y-pencils, an exchange within each column x-pencils. With two extents it cuts both: the rows are made whole
// among the ranks that hold parts of them, and the columns by an exchange among all ranks. gupta1993, appendix C,
// starts from the same blocks, but goes on by butterflies (binary_exchange.cpp).

#include <fmt/format.h>

#include <algorithm>

#include "chain/limits_and_cost.hpp"
#include "chain/transform_chain.hpp"
#include "interfaces/truncation.hpp"

namespace fourscore {

namespace {

/// Every rank has elements in all three layouts.
bool fits(const Problem& problem, const Grid& grid) {
  const Extents n = problem.complex_extents();
  if (problem.shape.size() == 2) return grid.ranks() <= std::min(n[0], n[1]);
  return fits_pencils(problem, grid);
}

/// With two extents, P x 1 would be slabs: hence the most square grid, with more rows than columns.
std::optional<Grid> planar_grid(const Problem& problem, int ranks) {
  for (const Grid& grid : two_dimensional_grids(ranks))
    if (grid.extents[0] >= grid.extents[1] && fits(problem, grid)) return grid;
  return std::nullopt;
}

/// Blocks, whole rows, whole columns.
std::vector<ChainStage> planar_stages(const Problem& problem, const Grid& grid) {
  const Extents shape = problem.complex_extents();
  const std::vector<int> places{grid.extents[0], grid.extents[1]};
  // A rank's rows are its share of those of its row of the grid, its columns of those of its column.
  const Decomposition rows{shape, places, {AxisCut{{{0}, {1}}}, AxisCut{}, AxisCut{}}, "rows " + grid_text(places)};
  const Decomposition columns{
      shape, places, {AxisCut{}, AxisCut{{{1}, {0}}}, AxisCut{}}, "columns " + grid_text(places)};
  const Decomposition blocks = decompose(shape, grid);
  // Back to blocks there is a way within the columns of the grid, which does not pass through whole rows.
  return arrange_stages(problem, {{blocks, {}}, {rows, {1}}, {columns, {0}}}, Return::direct);
}

class Pencil : public ChainVariant {
 public:
  [[nodiscard]] Card card() const override {
    return {"pencil",
            "z-pencils on any P1 x P2 grid, two exchanges (one where P1 or P2 is 1); transposed: left in x-pencils; "
            "of two extents blocks, rows, columns",
            "czechowski2012"};
  }

  [[nodiscard]] VariantFacts facts() const override {
    return {.kinds = {Kind::c2c, Kind::r2c}, .parameters = {truncation_parameter()}};
  }
  [[nodiscard]] std::size_t grid_entries(const Problem& /*problem*/, int /*ranks*/) const override { return 2; }
  [[nodiscard]] Reason supports(const Problem& problem, int ranks) const override {
    if (auto reason = chain_limits(problem, 2, 3)) return reason;
    if (const auto grid = grid_of(problem, ranks))
      return truncates(problem) ? truncation_limits(problem, stages(problem, *grid)) : std::nullopt;
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

  /// pencil_cost() for three extents. For two: n/p words in each exchange too (gupta1993, appendix C and section 5),
  /// less what stays, among P2 ranks in a row, then among all, and to natural order among P1 in a column.
  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const override {
    const Grid grid = fitting_grid(problem, ranks);
    if (problem.shape.size() == 3) return pencil_cost(problem, ranks, grid);
    const bool natural = problem.contract.layout == LayoutContract::natural;
    return cost_of_even_exchanges(problem, ranks, {grid.extents[1], ranks, natural ? grid.extents[0] : 1});
  }

 protected:
  [[nodiscard]] std::optional<Grid> grid_of(const Problem& problem, int ranks) const override {
    if (problem.grid.empty() && problem.shape.size() == 2) return planar_grid(problem, ranks);
    return pencil_grid(problem, ranks, [&](const Grid& grid) { return fits(problem, grid); });
  }
  [[nodiscard]] std::vector<ChainStage> stages(const Problem& problem, const Grid& grid) const override {
    if (problem.shape.size() == 2) return planar_stages(problem, grid);
    return arrange_stages(problem, pencil_stages(problem.complex_extents(), grid));
  }
};

FOURSCORE_REGISTER_VARIANT(Pencil);

}  // namespace

}  // namespace fourscore
