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
                             TransformChain::Options options)
    : comm_(cartesian(context.comm, options.grid)) {
  const Problem& problem = context.problem;
  PlanContext over_mesh = context;
  over_mesh.comm = comm_.get();
  chain_ = std::make_unique<TransformChain>(over_mesh, stages, std::move(options));
  const auto shown = [&](const Decomposition& layout, bool real) {
    const Decomposition complex = layout_over(context.comm, comm_.get(), layout);
    return real ? real_in_place_of(complex, problem.last_axis(), problem.shape.back()) : complex;
  };
  input_layout_ = shown(stages.front().layout, problem.real_input());
  output_layout_ = shown(stages.back().layout, problem.real_output());
}

}  // namespace fourscore
