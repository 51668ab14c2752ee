// DiGPUFFT (czechowski2012, sections 5.1 and 5.3): pencils, as `pencil` has them, with their local transforms on an
// accelerator.

#include "chain/device_plan.hpp"
#include "chain/limits_and_cost.hpp"

namespace fourscore {

namespace {

class PencilGpu : public DeviceVariant {
 public:
  [[nodiscard]] Card card() const override {
    return {"pencil-gpu", "pencil with its local transforms on an accelerator, by host copies or resident there",
            "czechowski2012"};
  }
  [[nodiscard]] std::size_t grid_entries(const Problem& /*problem*/, int /*ranks*/) const override { return 2; }

 protected:
  [[nodiscard]] Reason fits(const Problem& problem, int ranks) const override {
    if (auto reason = chain_limits(problem, 3, 3)) return reason;
    return pencil_limits(problem, ranks, "pencil-gpu");
  }
  [[nodiscard]] std::optional<Grid> grid_of(const Problem& problem, int ranks) const override {
    return pencil_grid(problem, ranks);
  }
  [[nodiscard]] std::vector<ChainStage> stages(const Problem& problem, const Grid& grid) const override {
    return arrange_stages(problem, pencil_stages(problem.complex_extents(), grid), Return::through_stages,
                          merging_of(problem));
  }
  [[nodiscard]] Cost cost_of_whole_exchanges(const Problem& problem, int ranks) const override {
    return pencil_cost(problem, ranks, fitting_grid(problem, ranks));
  }
};

FOURSCORE_REGISTER_VARIANT(PencilGpu);

}  // namespace

}  // namespace fourscore
