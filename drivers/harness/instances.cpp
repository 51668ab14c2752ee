#include "harness/instances.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/parameters.hpp"
#include "core/text.hpp"
#include "harness/named_phases.hpp"
#include "harness/round_trip.hpp"
#include "kernels/first_touch.hpp"
#include "mpi/broadcast.hpp"
#include "mpi/error.hpp"

namespace fourscore {

namespace {

bool on_subsets(const Problem& problem) { return problem.instances > 1 && problem.placement == Placement::subset; }

/// What each leader has, without repetition. Collective.
std::vector<NamedPhase> union_of(MPI_Comm comm, const std::vector<int>& leaders, const std::string& mine) {
  std::vector<NamedPhase> list;
  for (const int leader : leaders) {
    for (NamedPhase& entry : read_named_phases(mpi::broadcast_text(comm, leader, mine)))
      if (std::ranges::find(list, entry.name, &NamedPhase::name) == list.end()) list.push_back(std::move(entry));
  }
  return list;
}

void require_instances(const Problem& problem, int ranks) {
  if (problem.instances < 1 || problem.instances > max_instances)
    throw InputError(fmt::format("instances is {}; allowed: 1 to {}", problem.instances, max_instances));
  if (problem.grid.empty() || !on_subsets(problem) || problem.instances > ranks || ranks % problem.instances == 0)
    return;
  throw GridError(
      fmt::format("grid {} for {} instances on subsets of {} ranks, which are not all of one size; allowed: auto",
                  grid_text(problem.grid), problem.instances, ranks));
}

}  // namespace

Range ranks_of_instance(const Problem& problem, int ranks, int instance) {
  return on_subsets(problem) ? block_range(ranks, problem.instances, instance) : Range{0, ranks};
}

Problem one_instance(const Problem& problem) {
  Problem one = problem;
  one.instances = 1;
  one.placement = Placement::all;
  return one;
}

Reason supports_instances(const Variant& variant, const Problem& problem, int ranks) {
  require_instances(problem, ranks);
  const Problem one = one_instance(problem);
  if (!on_subsets(problem)) return supports_directions(variant, one, ranks);
  if (problem.instances > ranks)
    return fmt::format("{} instances on subsets of {} ranks; allowed: 1 to {}, or placement all", problem.instances,
                       ranks, ranks);
  for (const int instance : {0, problem.instances - 1}) {  // a largest subset, and a smallest
    const auto size = static_cast<int>(ranks_of_instance(problem, ranks, instance).size());
    if (const auto reason = supports_directions(variant, one, size))
      return fmt::format("an instance on a subset of {}: {}", plural(size, "rank"), *reason);
  }
  return std::nullopt;
}

Cost cost_of_instances(const Variant& variant, const Problem& problem, int ranks) {
  const auto size = static_cast<int>(ranks_of_instance(problem, ranks, 0).size());
  Cost cost = cost_of_directions(variant, one_instance(problem), size);
  cost.flops *= problem.instances;
  // Formulas are of data that is sent as it is.
  cost.bytes_per_rank *= wire_share(problem);
  if (on_subsets(problem)) return cost;
  cost.bytes_per_rank *= problem.instances;
  cost.messages_per_rank *= problem.instances;
  return cost;
}

Instances::Instances(const Variant& variant, const PlanContext& context)
    : comm_(context.comm), all_(context.comm), several_(context.problem.instances > 1) {
  const Problem one = one_instance(context.problem);
  const int me = mpi::rank_in(context.comm);
  const int ranks = mpi::size_of(context.comm);
  std::vector<int> numbers;
  for (int instance = 0; instance < context.problem.instances; ++instance) {
    const Range range = ranks_of_instance(context.problem, ranks, instance);
    leaders_.push_back(static_cast<int>(range.low));
    if (range.low <= me && me < range.high) numbers.push_back(instance);
  }
  if (on_subsets(context.problem)) {
    subset_ = mpi::split(context.comm, numbers.front(), me);
    comm_ = subset_.get();
  }
  const FirstTouchThreads touch(one.threads);
  for (const int number : numbers) {
    instances_.push_back({number, make_plan_of(variant, {one, comm_, context.exchange, context.local_fft})});
  }
  std::vector<TurnByTurn::Entry> entries;
  for (const Instance& instance : instances_) entries.push_back({instance.plan.get(), instance.number});
  turns_.emplace(std::move(entries));
  turned_.resize(instances_.size());
}

void Instances::execute(PhaseClock& clock, const Done& done) {
  clock_ = &clock;
  done_ = &done;
  tell_turns(true);
  if (work_ != nullptr) work_->begin_run();
  execute_all(clock);
  if (work_ != nullptr) work_->end_run(clock);
  tell_turns(false);
}

void Instances::tell_turns(bool tell) {
  for (std::size_t i = 0; i < instances_.size(); ++i) {
    auto* const round_trip = dynamic_cast<RoundTrip*>(instances_[i].plan.get());
    if (round_trip == nullptr) continue;
    if (tell) turned_[i] = [this, i] { tell_turned(i); };
    round_trip->when_turned(tell ? &turned_[i] : nullptr);
  }
}

void Instances::tell_turned(std::size_t instance) {
  (*done_)(completions() + instance);
  if (work_ != nullptr) work_->after_transform(*clock_);
}

void Instances::tell_complete(std::size_t instance) {
  if (several_) (*done_)(instance);
  if (work_ != nullptr) work_->after_transform(*clock_);
}

void Instances::execute_all(PhaseClock& clock) {
  const bool in_parts = work_ != nullptr && work_->is_during();
  if (!several_ && !in_parts) {
    instances_.front().plan->execute(clock);
    return tell_complete(0);
  }
  const auto beside = [this](PhaseClock& now, Advance result) {
    return work_ != nullptr && work_->after_part(now, result);
  };
  turns_->execute(
      clock, [this](std::size_t i) { tell_complete(i); }, beside, in_parts);
}

std::vector<Component> Instances::components() {
  std::vector<std::vector<Component>> of_plans;
  for (const Instance& instance : instances_) of_plans.push_back(instance.plan->components());
  const std::string mine = text_of(of_plans.front());
  std::vector<Component> list;
  for (const NamedPhase& entry :
       subset_.get() == MPI_COMM_NULL ? read_named_phases(mine) : union_of(all_, leaders_, mine)) {
    std::vector<std::function<void()>> parts;
    std::optional<Index> min_bytes = 0;
    for (const auto& components : of_plans)
      for (const Component& component : components)
        if (component.name == entry.name) {
          parts.push_back(component.run);
          min_bytes =
              min_bytes && component.min_bytes ? std::optional(*min_bytes + *component.min_bytes) : std::nullopt;
        }
    list.push_back({entry.name, entry.phase,
                    [parts = std::move(parts)] {
                      for (const auto& part : parts) part();
                    },
                    min_bytes});
  }
  return list;
}

std::map<Phase, Index> Instances::min_bytes(const Problem& problem) {
  std::map<Phase, Index> least;
  std::set<Phase> unknown;
  const std::vector<Component> list = components();
  for (const Component& component : list) {
    least[component.phase] += component.min_bytes.value_or(0);
    if (!component.min_bytes) unknown.insert(component.phase);
  }
  for (const Phase phase : unknown) least.erase(phase);
  if (!list.empty()) return least;
  const int me = mpi::rank_in(comm_);
  for (const Instance& instance : instances_) {
    const Plan& plan = *instance.plan;
    const Index data =
        plan.fields() * std::max(plan.input_layout().volume(me) * static_cast<Index>(problem.input_element_bytes()),
                                 plan.output_layout().volume(me) * static_cast<Index>(problem.output_element_bytes()));
    if (const auto* round_trip = dynamic_cast<const RoundTrip*>(&plan);
        round_trip && round_trip->min_bytes_of_product())
      least[Phase::product] += round_trip->min_bytes_of_product();
    least[Phase::other] += 2 * static_cast<Index>(problem.shape.size()) * data + 2 * plan.message_volume().bytes_sent;
  }
  return least;
}

}  // namespace fourscore
