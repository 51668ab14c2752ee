// One rank and one device: one plan of the device's library over all axes, the yardstick for the other variants there.

#include <fmt/format.h>

#include "chain/device_plan.hpp"
#include "chain/limits_and_cost.hpp"

namespace fourscore {

namespace {

class SerialGpu : public DeviceVariant {
 public:
  [[nodiscard]] Card card() const override {
    return {"serial-gpu", "one rank, one plan over all axes on an accelerator", "czechowski2012"};
  }
  [[nodiscard]] VariantFacts facts() const override {
    VariantFacts facts = DeviceVariant::facts();
    facts.exchange = "none";
    std::erase_if(facts.parameters, [](const Parameter& one) { return one.name == "merge-stages"; });
    return facts;
  }

 protected:
  [[nodiscard]] Reason fits(const Problem& problem, int ranks) const override {
    if (ranks != 1) return fmt::format("{} ranks; serial-gpu takes 1", ranks);
    require_grid(problem, ranks, 1);
    return chain_limits(problem, 1, 3);
  }
  [[nodiscard]] std::vector<ChainStage> stages(const Problem& problem, const Grid& /*grid*/) const override {
    return whole_stage(problem);
  }
  [[nodiscard]] TransformChain::Options options(const Problem& /*problem*/, const Grid& /*grid*/) const override {
    return {.single_plan = true};
  }
  [[nodiscard]] Cost cost_of_whole_exchanges(const Problem& problem, int /*ranks*/) const override {
    return {problem.credited_flops(), 0, 0};
  }
};

FOURSCORE_REGISTER_VARIANT(SerialGpu);

}  // namespace

}  // namespace fourscore
