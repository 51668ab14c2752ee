#pragma once
// One transform several times at once, as programs with many independent grids need it (lee2018, chapter 5): every
// instance over all ranks, or each on its own subset of them.

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/load_generator.hpp"
#include "harness/turn_by_turn.hpp"
#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"

namespace fourscore {

/// The ranks that instance number `instance` runs on, as many for each as can be.
[[nodiscard]] Range ranks_of_instance(const Problem& problem, int ranks, int instance);
/// What one instance solves.
[[nodiscard]] Problem one_instance(const Problem& problem);
/// Nothing, or why the variant cannot solve the instances on this many ranks. Throws InputError naming what is allowed
/// where the number of instances or the grid cannot be used. Calls no MPI.
[[nodiscard]] Reason supports_instances(const Variant& variant, const Problem& problem, int ranks);
/// The variant's formula: flops of all instances, bytes and messages of a rank of the largest subset.
[[nodiscard]] Cost cost_of_instances(const Variant& variant, const Problem& problem, int ranks);

/// This rank's instances, planned: all of them, or that of its subset. Everything is planned in the constructor.
class Instances {
 public:
  struct Instance {
    int number = 0;
    std::unique_ptr<Plan> plan;
  };

  /// Collective over context.comm, whose problem is that of all instances together. Every rank of it has the same
  /// number of instances.
  Instances(const Variant& variant, const PlanContext& context);

  [[nodiscard]] const std::vector<Instance>& here() const { return instances_; }
  [[nodiscard]] bool several() const { return several_; }  ///< in all, not only here
  [[nodiscard]] MPI_Comm comm() const { return comm_; }    ///< the ranks of the instances that are here
  /// How many instances here are told apart when they are complete.
  [[nodiscard]] std::size_t completions() const { return several_ ? instances_.size() : 0; }

  /// Part by part (Plan::advance), one instance after another: while messages of one are on their way the next
  /// computes, where the exchange lets it. Where there are several, in all, calls done(i) when here()[i] is complete;
  /// of a direction that goes_back(), done(completions() + i) when the forward half of here()[i] is. A plan that has
  /// its rank to itself runs as a whole, unless other work is done during it.
  using Done = std::function<void(std::size_t moment)>;
  void execute(PhaseClock& clock, const Done& done);

  /// From here on the rank also does other work, in all that is executed. Null: none.
  void work_beside(LoadGenerator* work) { work_ = work; }

  /// The components of the instances by name, each for all instances that are here, one after another. Collective:
  /// where subsets have different components, those that a rank lacks do nothing there.
  [[nodiscard]] std::vector<Component> components();

  /// The least that each phase moves to and from memory on this rank, all instances (Component::min_bytes); phases of
  /// which it is not known are absent. A plan that is not told apart in components moves everything in phase other:
  /// each axis reads and writes the data once, and what is sent is read here and written elsewhere. Collective.
  [[nodiscard]] std::map<Phase, Index> min_bytes(const Problem& problem);

  /// The sum of one of the plans' facts over all instances, on this rank.
  template <class Fact>
  [[nodiscard]] Fact total(Fact PlanFacts::*fact) const {
    Fact sum{};
    for (const Instance& instance : instances_) sum += instance.plan->facts().*fact;
    return sum;
  }

 private:
  void execute_all(PhaseClock& clock);
  void tell_turns(bool tell);
  void tell_turned(std::size_t instance);
  void tell_complete(std::size_t instance);

  mpi::Communicator subset_;  ///< null where all ranks have all instances
  MPI_Comm comm_;
  MPI_Comm all_;
  std::vector<int> leaders_;  ///< first rank of each subset
  std::vector<Instance> instances_;
  std::optional<TurnByTurn> turns_;            ///< takes the instances here by turns
  std::vector<std::function<void()>> turned_;  ///< notices, one an instance
  const Done* done_ = nullptr;                 ///< while it executes
  PhaseClock* clock_ = nullptr;                ///< likewise
  LoadGenerator* work_ = nullptr;
  bool several_;
};

}  // namespace fourscore
