// DiGPUFFT (czechowski2012, section 4): pencils, as `pencil` has them, with their local transforms on an accelerator.

#include <fmt/format.h>

#include <algorithm>

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
  [[nodiscard]] std::optional<std::string> fits(const Problem& problem, int ranks) const override {
    if (auto reason = chain_limits(problem, 3, 3)) return reason;
    if (pencil_grid(problem, ranks)) return std::nullopt;
    const Extents n = problem.complex_extents();
    return fmt::format(
        "{} on {} ranks does not fit: pencil-gpu takes P1 x P2 with P1 at most {} and P2 at most {} for shape {}",
        problem.grid.empty() ? "a grid" : "grid " + grid_text(problem.grid), ranks, std::min(n[0], n[1]),
        std::min(n[1], n[2]), shape_text(problem.shape));
  }
  [[nodiscard]] std::vector<ChainStage> stages(const Problem& problem, int ranks) const override {
    return arrange_stages(problem, pencil_stages(problem.complex_extents(), fitting_grid(problem, ranks)));
  }
  [[nodiscard]] std::vector<int> grid_of(const Problem& problem, int ranks) const override {
    const Grid grid = fitting_grid(problem, ranks);
    return {grid.extents[0], grid.extents[1]};
  }
  [[nodiscard]] Cost cost_of_whole_exchanges(const Problem& problem, int ranks) const override {
    return pencil_cost(problem, ranks, fitting_grid(problem, ranks));
  }

 private:
  [[nodiscard]] Grid fitting_grid(const Problem& problem, int ranks) const {
    const auto grid = pencil_grid(problem, ranks);
    if (!grid) throw InputError(fits(problem, ranks).value_or("no grid fits"));
    return *grid;
  }
};

FOURSCORE_REGISTER_VARIANT(PencilGpu);

}  // namespace

}  // namespace fourscore
