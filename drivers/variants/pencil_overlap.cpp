// The pencil method with its exchanges in pieces, so that local transforms, packing and unpacking of some pieces go on
// while others are in flight: the overlap of gupta1993, appendix E, and what czechowski2012 means by max(T_mem, T_net)
// in place of their sum.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "chain/limits_and_cost.hpp"
#include "chain/transform_chain.hpp"
#include "redistribution/piecewise_exchange.hpp"

namespace fourscore {

namespace {

class PencilOverlap : public Variant {
 public:
  [[nodiscard]] Card card() const override {
    return {"pencil-overlap",
            "pencil with its exchanges in pieces, in flight while others are transformed, packed and unpacked",
            "gupta1993, appendix E; czechowski2012"};
  }
  [[nodiscard]] std::vector<Kind> kinds() const override { return {Kind::c2c, Kind::r2c}; }
  [[nodiscard]] std::vector<Parameter> parameters() const override { return {pieces_parameter()}; }
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
    if (pencil_grid(problem, ranks)) return std::nullopt;
    const Extents n = problem.complex_extents();
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
    return std::make_unique<TransformChain>(
        context, arrange_stages(problem, pencil_stages(problem.complex_extents(), grid)), options);
  }

  /// As any pencils; each message in pieces (gupta1993, appendix E), as far as a rank has planes of its own to make
  /// pieces of.
  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const override {
    const Grid grid = fitting_grid(problem, ranks);
    const auto planes = static_cast<int>(block_range(problem.shape[0], grid.extents[0], 0).size());
    Cost cost = pencil_cost(problem, ranks, grid);
    cost.messages_per_rank *= std::min(pieces_of(problem), planes);
    return cost;
  }
  [[nodiscard]] std::vector<RedistributionGroup> redistributions(const Problem& problem, int ranks,
                                                                 int rank) const override {
    return redistributions_between(
        arrange_stages(problem, pencil_stages(problem.complex_extents(), fitting_grid(problem, ranks))), rank);
  }

 private:
  [[nodiscard]] static std::vector<std::string> taken() {
    std::vector<std::string> names;
    for (const auto& name : ExchangeRegistry::instance().names())
      if (piecewise(*ExchangeRegistry::instance().find(name)) != nullptr) names.push_back(name);
    return names;
  }
  [[nodiscard]] Grid fitting_grid(const Problem& problem, int ranks) const {
    const auto grid = pencil_grid(problem, ranks);
    if (!grid) throw InputError(supports(problem, ranks).value_or("no grid fits"));
    return *grid;
  }
};

FOURSCORE_REGISTER_VARIANT(PencilOverlap);

}  // namespace

}  // namespace fourscore
