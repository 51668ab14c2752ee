// One-dimensional decomposition: slabs along the first axis, all other axes transformed at once, one exchange, the
// first axis. eleftheriou2005 compares its volumetric method with FFTW's, which is this one.

#include "chain/limits_and_cost.hpp"
#include "chain/transform_chain.hpp"

namespace fourscore {

namespace {

std::vector<ChainStage> stages_of(const Problem& problem, int ranks) {
  return arrange_stages(problem, slab_stages(problem, ranks));
}

class Slab : public Variant {
 public:
  [[nodiscard]] Card card() const override {
    return {"slab", "slabs along the first axis, one exchange; transposed: left in slabs along the second",
            "eleftheriou2005"};
  }

  [[nodiscard]] std::vector<Kind> kinds() const override { return {Kind::c2c, Kind::r2c}; }

  [[nodiscard]] std::optional<std::string> supports(const Problem& problem, int ranks) const override {
    if (auto reason = chain_limits(problem, 2, 3)) return reason;
    return slab_limits(problem, ranks, "slab");
  }

  [[nodiscard]] std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    const int ranks = mpi::size_of(context.comm);
    require_grid(context.problem, ranks, 1);
    return std::make_unique<TransformChain>(context, stages_of(context.problem, ranks),
                                            TransformChain::Options{{ranks}, false});
  }

  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const override { return slab_cost(problem, ranks); }
  [[nodiscard]] std::vector<RedistributionGroup> redistributions(const Problem& problem, int ranks,
                                                                 int rank) const override {
    return redistributions_between(stages_of(problem, ranks), rank);
  }
};

FOURSCORE_REGISTER_VARIANT(Slab);

}  // namespace

}  // namespace fourscore
