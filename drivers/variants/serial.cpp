// One rank, one plan of the local library: what a user without MPI would write, and the yardstick for one rank.

#include <fmt/format.h>

#include "chain/limits_and_cost.hpp"
#include "chain/transform_chain.hpp"

namespace fourscore {

namespace {

class Serial : public ChainVariant {
 public:
  [[nodiscard]] Card card() const override {
    return {"serial", "one rank, one bare plan of the local library over all axes", "frigo2005"};
  }
  [[nodiscard]] VariantFacts facts() const override { return {.kinds = {Kind::c2c, Kind::r2c}, .exchange = "none"}; }

  [[nodiscard]] Reason supports(const Problem& problem, int ranks) const override {
    if (ranks != 1) return fmt::format("{} ranks; serial takes 1", ranks);
    require_grid(problem, ranks, 1);
    return chain_limits(problem, 1, 3);
  }

  [[nodiscard]] Cost cost(const Problem& problem, int /*ranks*/) const override {
    return {problem.credited_flops(), 0, 0};
  }

 protected:
  [[nodiscard]] std::vector<ChainStage> stages(const Problem& problem, const Grid& /*grid*/) const override {
    return whole_stage(problem);
  }
  [[nodiscard]] TransformChain::Options options(const Problem& /*problem*/, const Grid& /*grid*/) const override {
    return {.single_plan = true};
  }
};

FOURSCORE_REGISTER_VARIANT(Serial);

}  // namespace

}  // namespace fourscore
