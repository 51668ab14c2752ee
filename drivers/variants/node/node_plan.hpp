#pragma once
// One pencil for each state and rank, whose lines, packing, messages and unpacking a team of threads shares (lee2018,
// chapter 3: Charm-NodeFFT).

#include <memory>
#include <vector>

#include "chain/transform_chain.hpp"
#include "variants/node/node_exchange.hpp"
#include "variants/node/thread_team.hpp"

namespace fourscore {

struct NodeOptions {
  MpiCallers callers = MpiCallers::one;
  bool one_packs_z = false;      ///< one thread packs and sends what goes from the Z state to the Y state
  Index segments = 1;            ///< most that a message is cut into
  Index segment_bytes = 1;       ///< which each segment has at least
  std::vector<int> grid{};       ///< what grid() returns
  bool on_device = false;        ///< the local transforms are offloaded: thread 0 launches those of a stage together
  std::size_t device_bytes = 0;  ///< on the device, which all of them use in turn
};

class NodePlan : public Plan {
 public:
  /// Collective. stages: from input to output, in natural storage order. Throws InputError where OpenMP gives too few
  /// threads, MPI too little thread support, or a segment has more elements than MPI's int holds.
  NodePlan(const PlanContext& context, std::vector<ChainStage> stages, const NodeOptions& options);

  [[nodiscard]] const Decomposition& input_layout() const override { return input_layout_; }
  [[nodiscard]] const Decomposition& output_layout() const override { return output_layout_; }
  [[nodiscard]] void* input() const override { return buffers_[0]->data(); }
  [[nodiscard]] void* output() const override { return buffers_[ends_in_]->data(); }
  void execute(PhaseClock& clock) override;
  /// One step a stage: the end of the exchange into it, its transform, and the beginning of the exchange out of it.
  [[nodiscard]] std::size_t steps() const override { return stages_.size(); }
  void step(std::size_t number, PhaseClock& clock) override;
  [[nodiscard]] std::vector<Component> components() override;
  [[nodiscard]] MessageVolume message_volume() const override;
  [[nodiscard]] std::size_t buffer_bytes() const override;
  [[nodiscard]] DeviceWork device_work() const override;
  [[nodiscard]] std::size_t workspace_bytes() const override;
  [[nodiscard]] std::vector<std::string> describe_local_ffts() const override;
  [[nodiscard]] std::vector<int> grid() const override { return options_.grid; }

 private:
  /// One local transform, shared out; a barrier follows. On a device thread 0 has all of it.
  struct Pass {
    std::vector<std::unique_ptr<LocalFft>> of_thread;
  };
  struct Places {
    std::size_t lands_in = 0;
    std::size_t leaves_in = 0;
  };

  /// From z-pencils that were transformed to others.
  [[nodiscard]] bool leaves_z(std::size_t stage) const;
  void place_stages(Buffers buffers);
  void allocate(const PlanContext& context);
  void make_passes(const PlanContext& context);
  void make_launch(const PlanContext& context, std::size_t stage);
  void make_exchanges(const PlanContext& context);
  void run_stage(std::size_t stage, int thread, PhaseClock& clock);
  void run_step(std::size_t stage, int thread, PhaseClock& clock);
  void run_passes(std::size_t stage, int thread, PhaseClock& clock);
  void add_transform(std::size_t stage, int number, std::vector<Component>& list);
  void add_components_of_redistribution(std::size_t redistribution, std::vector<Component>& list);
  [[nodiscard]] std::byte* data(std::size_t buffer) const;

  NodeOptions options_;
  std::vector<ChainStage> stages_;  ///< for complex data
  Decomposition input_layout_;
  Decomposition output_layout_;
  ThreadTeam team_;
  mpi::Communicator comm_;
  std::vector<Places> places_;
  std::size_t ends_in_ = 0;
  std::vector<std::shared_ptr<Buffer>> buffers_;
  std::vector<Index> stage_bytes_;  ///< on this rank, by stage
  std::unique_ptr<Buffer> workspace_;
  std::vector<std::vector<Pass>> passes_;                 ///< by stage
  std::vector<std::unique_ptr<NodeExchange>> exchanges_;  ///< number i leads from stage i to stage i + 1
};

}  // namespace fourscore
