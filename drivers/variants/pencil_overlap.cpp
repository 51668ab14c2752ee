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

class PencilOverlap : public ChainVariant {
 public:
  [[nodiscard]] Card card() const override {
    return {"pencil-overlap",
            "pencil with its exchanges in pieces, in flight while others are transformed, packed and unpacked",
            "gupta1993, appendix E; czechowski2012"};
  }
  [[nodiscard]] VariantFacts facts() const override { return {{Kind::c2c, Kind::r2c}, "p2p", {pieces_parameter()}}; }
  [[nodiscard]] std::size_t grid_entries(const Problem& /*problem*/, int /*ranks*/) const override { return 2; }
  [[nodiscard]] Reason refuses(const ExchangeMethod& exchange, const Problem& /*problem*/) const override {
    if (piecewise(exchange) != nullptr) return std::nullopt;
    return fmt::format("exchange '{}' cannot have several pieces in flight; pencil-overlap takes {}",
                       exchange.card().name, fmt::join(taken(), ", "));
  }

  [[nodiscard]] Reason supports(const Problem& problem, int ranks) const override {
    if (auto reason = chain_limits(problem, 3, 3)) return reason;
    (void)pieces_of(problem);
    return pencil_limits(problem, ranks, "pencil-overlap");
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

 protected:
  [[nodiscard]] std::optional<Grid> grid_of(const Problem& problem, int ranks) const override {
    return pencil_grid(problem, ranks);
  }
  [[nodiscard]] std::vector<ChainStage> stages(const Problem& problem, const Grid& grid) const override {
    return arrange_stages(problem, pencil_stages(problem.complex_extents(), grid));
  }
  /// With one piece, or on one rank, the plan is pencil's own.
  [[nodiscard]] TransformChain::Options options(const Problem& problem, const Grid& grid) const override {
    auto options = ChainVariant::options(problem, grid);
    options.pieces = pieces_of(problem);
    return options;
  }

 private:
  [[nodiscard]] static std::vector<std::string> taken() {
    std::vector<std::string> names;
    for (const auto& name : ExchangeRegistry::instance().names())
      if (piecewise(*ExchangeRegistry::instance().find(name)) != nullptr) names.push_back(name);
    return names;
  }
};

FOURSCORE_REGISTER_VARIANT(PencilOverlap);

}  // namespace

}  // namespace fourscore
