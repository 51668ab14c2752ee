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
  std::vector<int> grid{};       ///< PlanFacts::grid
  bool on_device = false;        ///< the local transforms are offloaded: thread 0 launches those of a stage together
  std::size_t device_bytes = 0;  ///< on the device, which all of them use in turn
};

class NodePlan : public Plan {
 public:
  /// Collective. stages: from input to output, in natural storage order. Throws InputError where OpenMP gives too few
  /// threads, MPI too little thread support, or a segment has more elements than MPI's int holds.
  NodePlan(const PlanContext& context, std::vector<ChainStage> stages, const NodeOptions& options);

  void execute(PhaseClock& clock) override;
  /// A part is a stage: the end of the exchange into it, its transform, and the beginning of the exchange out of it.
  Advance advance(PhaseClock& clock) override;
  [[nodiscard]] std::vector<Component> components() override;

 private:
  /// One local transform, shared out; a barrier follows. On a device thread 0 has all of it.
  struct Pass {
    std::vector<std::unique_ptr<LocalFft>> of_thread;
    std::vector<Index> bytes{};  ///< [thread] that it moves; empty on a device
  };
  struct Places {
    std::size_t lands_in = 0;
    std::size_t leaves_in = 0;
  };

  /// From z-pencils that were transformed to others.
  [[nodiscard]] bool leaves_z(std::size_t stage) const;
  void place_stages(std::size_t output);
  void make_passes(const PlanContext& context);
  void make_launch(const PlanContext& context, std::size_t stage);
  void make_exchanges(const PlanContext& context);
  void run_stage(std::size_t stage, int thread, PhaseClock& clock);
  void run_step(std::size_t stage, int thread, PhaseClock& clock);
  void run_passes(std::size_t stage, int thread, PhaseClock& clock);
  void add_transform(std::size_t stage, int number, std::vector<Component>& list);
  void add_components_of_redistribution(std::size_t redistribution, std::vector<Component>& list);
  void declare_work();

  NodeOptions options_;
  std::vector<ChainStage> stages_;  ///< for complex data
  ThreadTeam team_;
  mpi::Communicator comm_;
  Index element_bytes_;
  std::vector<Places> places_;
  std::unique_ptr<Buffer> workspace_;
  std::vector<std::vector<Pass>> passes_;                 ///< by stage
  std::vector<std::unique_ptr<NodeExchange>> exchanges_;  ///< number i leads from stage i to stage i + 1
  std::size_t next_ = 0;                                  ///< the stage with which a run in parts goes on
};

}  // namespace fourscore
