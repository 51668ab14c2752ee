// One rank, one plan of the local library: what a user without MPI would write, and the yardstick for one rank.

#include <fmt/format.h>

#include "chain/limits_and_cost.hpp"
#include "chain/transform_chain.hpp"

namespace fourscore {

namespace {

class Serial : public Variant {
 public:
  [[nodiscard]] Card card() const override {
    return {"serial", "one rank, one bare plan of the local library over all axes", "frigo2005"};
  }
  [[nodiscard]] bool takes_exchange() const override { return false; }
  [[nodiscard]] std::vector<Kind> kinds() const override { return {Kind::c2c, Kind::r2c}; }

  [[nodiscard]] std::optional<std::string> supports(const Problem& problem, int ranks) const override {
    if (ranks != 1) return fmt::format("{} ranks; serial takes 1", ranks);
    require_grid(problem, ranks, 1);
    return chain_limits(problem, 1, 3);
  }

  [[nodiscard]] std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    ChainStage stage{decompose(context.problem.complex_extents(), Grid{}), {}};
    for (std::size_t a = 0; a < context.problem.shape.size(); ++a) stage.axes.push_back(a);
    return std::make_unique<TransformChain>(context, std::vector{stage}, TransformChain::Options{{}, true});
  }

  [[nodiscard]] Cost cost(const Problem& problem, int /*ranks*/) const override {
    return {problem.credited_flops(), 0, 0};
  }
};

FOURSCORE_REGISTER_VARIANT(Serial);

}  // namespace

}  // namespace fourscore
