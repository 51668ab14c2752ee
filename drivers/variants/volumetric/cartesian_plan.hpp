#pragma once
// A transform chain over the ranks of a Cartesian communicator, which MPI may have numbered anew.

#include <memory>
#include <string>
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

/// The chain of the stages over the Cartesian communicator of options.grid. What the plan shows is over the ranks of
/// context.comm.
class CartesianPlan : public Plan {
 public:
  CartesianPlan(const PlanContext& context, const std::vector<ChainStage>& stages, TransformChain::Options options);

  [[nodiscard]] const Decomposition& input_layout() const override { return input_layout_; }
  [[nodiscard]] const Decomposition& output_layout() const override { return output_layout_; }
  [[nodiscard]] void* input() const override { return chain_->input(); }
  [[nodiscard]] void* output() const override { return chain_->output(); }
  void execute(PhaseClock& clock) override { chain_->execute(clock); }
  [[nodiscard]] std::size_t steps() const override { return chain_->steps(); }
  void step(std::size_t number, PhaseClock& clock) override { chain_->step(number, clock); }
  [[nodiscard]] std::vector<Component> components() override { return chain_->components(); }
  [[nodiscard]] MessageVolume message_volume() const override { return chain_->message_volume(); }
  [[nodiscard]] std::size_t buffer_bytes() const override { return chain_->buffer_bytes(); }
  [[nodiscard]] std::size_t workspace_bytes() const override { return chain_->workspace_bytes(); }
  [[nodiscard]] std::vector<std::string> describe_local_ffts() const override { return chain_->describe_local_ffts(); }
  [[nodiscard]] std::vector<int> grid() const override { return chain_->grid(); }

 private:
  mpi::Communicator comm_;
  std::unique_ptr<TransformChain> chain_;
  Decomposition input_layout_;
  Decomposition output_layout_;
};

}  // namespace fourscore
