// The "traditional method" of haynes2000, sections 3 and 5: rods of one direction, transformed, then dealt anew for the
// next direction, twice, each time between all ranks. A slab along x holds whole rods along z, one along y whole rods
// along x, and one along x again whole rods along y: so the result is decomposed as the input was.

#include "chain/limits_and_cost.hpp"
#include "chain/transform_chain.hpp"

namespace fourscore {

namespace {

class Rods : public ChainVariant {
 public:
  [[nodiscard]] Card card() const override {
    return {
        "rods",
        "rods along z, x and y in turn, two exchanges, each between all ranks; the result is decomposed as the input",
        "haynes2000"};
  }

  [[nodiscard]] Reason supports(const Problem& problem, int ranks) const override {
    if (auto reason = chain_limits(problem, 3, 3)) return reason;
    return slab_limits(problem, ranks, "rods");
  }

  /// Equation 4: two phases, each of P - 1 messages of n u / P^2 bytes.
  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const override {
    return cost_of_even_exchanges(problem, ranks, {ranks, ranks});
  }

 protected:
  /// Rods of one direction at a time, also where those of a second lie whole on the rank: two phases is the method.
  [[nodiscard]] std::vector<ChainStage> stages(const Problem& problem, const Grid& grid) const override {
    const Extents shape = problem.complex_extents();
    const Decomposition along_x = decompose(shape, grid);
    const Decomposition along_y = decompose(shape, Grid{{1, grid.ranks(), 1}});
    return arrange_stages(problem, {{along_x, {2}}, {along_y, {0}}, {along_x, {1}}}, Return::direct);
  }
};

FOURSCORE_REGISTER_VARIANT(Rods);

}  // namespace

}  // namespace fourscore
