// Slabs, as `slab` has them, with their local transforms on an accelerator.

#include "chain/device_plan.hpp"
#include "chain/limits_and_cost.hpp"

namespace fourscore {

namespace {

class SlabGpu : public DeviceVariant {
 public:
  [[nodiscard]] Card card() const override {
    return {"slab-gpu", "slab with its local transforms on an accelerator, by host copies or resident there",
            "czechowski2012"};
  }

 protected:
  [[nodiscard]] Reason fits(const Problem& problem, int ranks) const override {
    if (auto reason = chain_limits(problem, 2, 3)) return reason;
    return slab_limits(problem, ranks, "slab-gpu");
  }
  [[nodiscard]] std::vector<ChainStage> stages(const Problem& problem, const Grid& grid) const override {
    return arrange_stages(problem, slab_stages(problem, grid.ranks()), Return::through_stages, merging_of(problem));
  }
  [[nodiscard]] Cost cost_of_whole_exchanges(const Problem& problem, int ranks) const override {
    return slab_cost(problem, ranks);
  }
};

FOURSCORE_REGISTER_VARIANT(SlabGpu);

}  // namespace

}  // namespace fourscore
