#pragma once
// A transform chain over the ranks of a Cartesian communicator, which MPI may have numbered anew.

#include <vector>

#include "chain/transform_chain.hpp"
#include "mpi/handles.hpp"

namespace fourscore {

/// A torus of this grid's extents, whose ranks are the row-major numbers of their coordinates. MPI may choose which
/// process gets which (reorder): neighbours in the grid may then be neighbours in the network. Collective over comm.
[[nodiscard]] mpi::Communicator cartesian(MPI_Comm comm, const std::vector<int>& grid);

/// Where the ranks of `comm` have what `layout` gives to those of `renumbered`, the same processes: the layout itself
/// unless MPI reordered, else the list of their boxes. For complex data. Collective.
[[nodiscard]] Decomposition layout_over(MPI_Comm comm, MPI_Comm renumbered, const Decomposition& layout);

struct CartesianRanks {
  mpi::Communicator comm;
};

/// The chain of the stages over the Cartesian communicator of options.grid. What the plan shows is over the ranks of
/// context.comm.
class CartesianPlan : private CartesianRanks, public TransformChain {
 public:
  CartesianPlan(const PlanContext& context, const std::vector<ChainStage>& stages,
                const TransformChain::Options& options);
};

}  // namespace fourscore
