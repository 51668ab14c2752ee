// The pencil method with its exchanges in pieces, so that local transforms, packing and unpacking of some pieces go on
// while others are in flight: the overlap of gupta1993, appendix E, and what czechowski2012 means by max(T_mem, T_net)
// in place of their sum.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "chain/pencil_grids.hpp"
#include "core/parameters.hpp"

namespace fourscore {

namespace {

std::optional<Grid> grid_of(const Problem& problem, int ranks) {
  return pencil_grid(problem, ranks, [&](const Grid& grid) { return fits_pencils(problem.extents(), grid); });
}

int pieces_of(const Problem& problem) {
  return static_cast<int>(integer_parameter(problem, "pieces", default_pieces, 1, max_pieces));
}

class PencilOverlap : public Variant {
 public:
  [[nodiscard]] Card card() const override {
    return {"pencil-overlap",
            "pencil with its exchanges in pieces, in flight while others are transformed, packed and unpacked",
            "gupta1993, appendix E; czechowski2012"};
  }
  [[nodiscard]] std::vector<Parameter> parameters() const override { return {{"pieces", {"1", "3", "9"}}}; }
  [[nodiscard]] std::string default_exchange() const override { return "p2p"; }
  [[nodiscard]] std::size_t grid_entries(const Problem& /*problem*/, int /*ranks*/) const override { return 2; }
  [[nodiscard]] std::optional<std::string> refuses(const ExchangeMethod& exchange) const override {
    if (piecewise(exchange) != nullptr) return std::nullopt;
    return fmt::format("exchange '{}' cannot have several pieces in flight; pencil-overlap takes {}",
                       exchange.card().name, fmt::join(taken(), ", "));
  }

  [[nodiscard]] std::optional<std::string> supports(const Problem& problem, int ranks) const override {
    if (auto reason = chain_limits(problem, 3, 3)) return reason;
    (void)pieces_of(problem);
    if (grid_of(problem, ranks)) return std::nullopt;
    const auto& n = problem.shape;
    return fmt::format(
        "{} on {} ranks does not fit: pencil-overlap takes P1 x P2 with P1 at most {} and P2 at most {} for "
        "shape {}",
        problem.grid.empty() ? "a grid" : "grid " + grid_text(problem.grid), ranks, std::min(n[0], n[1]),
        std::min(n[1], n[2]), shape_text(problem.shape));
  }

  /// The stages of pencil: on one rank, or with one piece, the plan is pencil's own.
  [[nodiscard]] std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    const Problem& problem = context.problem;
    const Grid grid = fitting_grid(problem, mpi::size_of(context.comm));
    const TransformChain::Options options{{grid.extents[0], grid.extents[1]}, false, pieces_of(problem)};
    return std::make_unique<TransformChain>(context, arrange_stages(problem, pencil_stages(problem.extents(), grid)),
                                            options);
  }

  /// Bytes as in czechowski2012, equation 3, less what stays on the rank; each message in pieces (gupta1993, appendix
  /// E), as far as a rank has planes of its own to make pieces of.
  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const override {
    const Grid grid = fitting_grid(problem, ranks);
    const Cost row = even_exchange_cost(problem, ranks, grid.extents[1]);
    const Cost column = even_exchange_cost(problem, ranks, grid.extents[0]);
    const int times = problem.contract.layout == LayoutContract::natural ? 2 : 1;
    const auto planes = static_cast<int>(block_range(problem.shape[0], grid.extents[0], 0).size());
    const int pieces = std::min(pieces_of(problem), planes);
    return {problem.credited_flops(), times * (row.bytes_per_rank + column.bytes_per_rank),
            times * pieces * (row.messages_per_rank + column.messages_per_rank)};
  }

 private:
  [[nodiscard]] static std::vector<std::string> taken() {
    std::vector<std::string> names;
    for (const auto& name : ExchangeRegistry::instance().names())
      if (piecewise(*ExchangeRegistry::instance().find(name)) != nullptr) names.push_back(name);
    return names;
  }
  [[nodiscard]] Grid fitting_grid(const Problem& problem, int ranks) const {
    const auto grid = grid_of(problem, ranks);
    if (!grid) throw InputError(supports(problem, ranks).value_or("no grid fits"));
    return *grid;
  }
};

FOURSCORE_REGISTER_VARIANT(PencilOverlap);

}  // namespace

}  // namespace fourscore
