// One-dimensional decomposition: slabs along the first axis, all other axes transformed at once, one exchange, the
// first axis. eleftheriou2005 compares its volumetric method with FFTW's, which is this one.

#include "chain/limits_and_cost.hpp"
#include "chain/transform_chain.hpp"
#include "interfaces/truncation.hpp"

namespace fourscore {

namespace {

class Slab : public ChainVariant {
 public:
  [[nodiscard]] Card card() const override {
    return {"slab", "slabs along the first axis, one exchange; transposed: left in slabs along the second",
            "eleftheriou2005"};
  }

  [[nodiscard]] VariantFacts facts() const override {
    return {.kinds = {Kind::c2c, Kind::r2c}, .parameters = {truncation_parameter()}};
  }

  [[nodiscard]] Reason supports(const Problem& problem, int ranks) const override {
    if (auto reason = chain_limits(problem, 2, 3)) return reason;
    if (auto reason = slab_limits(problem, ranks, "slab")) return reason;
    return truncates(problem) ? truncation_limits(problem, stages(problem, Grid{{ranks, 1, 1}})) : std::nullopt;
  }

  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const override { return slab_cost(problem, ranks); }

 protected:
  [[nodiscard]] std::vector<ChainStage> stages(const Problem& problem, const Grid& grid) const override {
    return arrange_stages(problem, slab_stages(problem, grid.ranks()));
  }
};

FOURSCORE_REGISTER_VARIANT(Slab);

}  // namespace

}  // namespace fourscore
