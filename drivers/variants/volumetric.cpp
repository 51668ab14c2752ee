// Three-dimensional decomposition (eleftheriou2005): blocks on a Px x Py x Pz mesh; each line of the mesh along z deals
// its columns to its ranks, and the return from there is one redistribution with the departure to the pencils along y,
// the return from those one with the departure to the pencils along x: three redistributions in place of six. Kept
// apart, they are six.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "chain/limits_and_cost.hpp"
#include "chain/transform_chain.hpp"
#include "core/parameters.hpp"
#include "variants/volumetric/cartesian_plan.hpp"
#include "variants/volumetric/volumetric_layouts.hpp"

namespace fourscore {

namespace {

const std::vector<std::string> topology_names{"none", "cart"};

/// The paper's processes are those of a Cartesian communicator ("organized in a 3D grid using the MPI topology
/// constructs").
bool is_cartesian(const Problem& problem) { return choice_parameter(problem, "topology", topology_names) == "cart"; }

const std::vector<std::string> redistribution_names{"combined", "separate"};

/// Whether each return to the blocks is one redistribution with the next departure ("we reduce the data redistributions
/// to three, as opposed to six").
bool is_combined(const Problem& problem) {
  return choice_parameter(problem, "redistributions", redistribution_names) == "combined";
}

class Volumetric : public ChainVariant {
 public:
  [[nodiscard]] Card card() const override {
    return {"volumetric",
            "blocks on any Px x Py x Pz mesh, three redistributions; natural: a fourth back to the blocks; transposed: "
            "left in x-pencils, each line along x dealing the columns of its blocks",
            "eleftheriou2005"};
  }

  [[nodiscard]] VariantFacts facts() const override {
    VariantFacts facts = ChainVariant::facts();
    facts.parameters = {{"topology", "cart: the mesh is a periodic Cartesian communicator, whose ranks MPI may reorder",
                         topology_names.front(), topology_names},
                        {"redistributions",
                         "combined: a return to the blocks and the next departure are one; separate: data returns to "
                         "the blocks between two axes",
                         redistribution_names.front(), redistribution_names}};
    return facts;
  }

  [[nodiscard]] std::size_t grid_entries(const Problem& /*problem*/, int /*ranks*/) const override { return 3; }
  [[nodiscard]] Reason supports(const Problem& problem, int ranks) const override {
    if (auto reason = chain_limits(problem, 3, 3)) return reason;
    require_grid(problem, ranks, 3);
    (void)is_cartesian(problem);
    (void)is_combined(problem);
    const Index most = fewest_pencils(problem.complex_extents());
    if (ranks > most)
      return fmt::format(
          "{} ranks are more than volumetric can use: {} for shape {}, the fewest 1-D transforms that an axis has",
          ranks, most, shape_text(problem.shape));
    return std::nullopt;
  }

  [[nodiscard]] std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    const Problem& problem = context.problem;
    if (!is_cartesian(problem)) return ChainVariant::make_plan(context);
    const Grid mesh = fitting_grid(problem, mpi::size_of(context.comm));
    return std::make_unique<CartesianPlan>(context, stages(problem, mesh), options(problem, mesh));
  }

  /// Section "Parallel implementation": N/P elements a rank dealt within a line of Pz, a plane of Py Pz, a plane of
  /// Px Py ranks, and for natural order a line of Px, less what stays on the rank. Separate redistributions deal them
  /// within lines alone: away and back. The paper's own bound takes the whole N/P as received (V_received).
  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const override {
    const auto [px, py, pz] = fitting_grid(problem, ranks).extents;
    const int back = problem.contract.layout == LayoutContract::natural ? px : 1;
    if (is_combined(problem)) return cost_of_even_exchanges(problem, ranks, {pz, py * pz, px * py, back});
    return cost_of_even_exchanges(problem, ranks, {pz, pz, py, py, px, back});
  }

 protected:
  /// Ranks are numbered as the mesh does: with topology=cart MPI decides which process is which.
  [[nodiscard]] std::optional<Grid> grid_of(const Problem& problem, int ranks) const override {
    require_grid(problem, ranks, 3);
    if (problem.grid.empty()) return most_cubic_mesh(problem.complex_extents(), ranks);
    return Grid{{problem.grid[0], problem.grid[1], problem.grid[2]}};
  }
  /// Natural: the last return, to blocks, is a redistribution of its own. Transposed: it is left out.
  [[nodiscard]] std::vector<ChainStage> stages(const Problem& problem, const Grid& mesh) const override {
    const VolumetricLayouts layouts = volumetric_layouts(problem.complex_extents(), mesh);
    const auto& [x, y, z] = layouts.pencils;
    const ChainStage blocks{layouts.blocks, {}};
    std::vector<ChainStage> forward{blocks, {z, {2}}, {y, {1}}, {x, {0}}};
    if (!is_combined(problem)) forward = {blocks, {z, {2}}, blocks, {y, {1}}, blocks, {x, {0}}};
    return arrange_stages(problem, std::move(forward), Return::direct);
  }
};

FOURSCORE_REGISTER_VARIANT(Volumetric);

}  // namespace

}  // namespace fourscore
