#include "variants/volumetric/cartesian_plan.hpp"

#include <utility>

#include "mpi/error.hpp"

namespace fourscore {

mpi::Communicator cartesian(MPI_Comm comm, const std::vector<int>& grid) {
  const std::vector<int> periodic(grid.size(), 1);
  MPI_Comm made = MPI_COMM_NULL;
  FOURSCORE_MPI(MPI_Cart_create(comm, static_cast<int>(grid.size()), grid.data(), periodic.data(), 1, &made));
  mpi::Communicator owner(made);
  FOURSCORE_MPI(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN));
  return owner;
}

Decomposition layout_over(MPI_Comm comm, MPI_Comm renumbered, const Decomposition& layout) {
  int same = MPI_UNEQUAL;
  FOURSCORE_MPI(MPI_Comm_compare(comm, renumbered, &same));
  if (same == MPI_CONGRUENT || same == MPI_IDENT) return layout;
  std::vector<Box> boxes;
  for (const int rank : mpi::translate_ranks(comm, renumbered)) boxes.push_back(layout.box(rank));
  return Decomposition::of_boxes(layout.shape, std::move(boxes), layout.name + ", reordered");
}

CartesianPlan::CartesianPlan(const PlanContext& context, const std::vector<ChainStage>& stages,
                             const TransformChain::Options& options)
    : CartesianRanks{cartesian(context.comm, options.grid)},
      TransformChain({context.problem, comm.get(), context.exchange, context.local_fft, context.shared, context.memory},
                     stages, options) {
  const auto shown = [&](const ChainStage& stage) { return layout_over(context.comm, comm.get(), stage.layout); };
  declare_layouts(context.problem, shown(stages.front()), shown(stages.back()));
}

}  // namespace fourscore
