#include "harness/round_trip.hpp"

#include <algorithm>
#include <stdexcept>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {

RoundTrip::RoundTrip(const Variant& variant, const PlanContext& context) {
  const Problem there = in_direction(context.problem, Direction::forward);
  forward_ = variant.make_plan({there, context.comm, context.exchange, context.local_fft, &memory_});
  memory_.begin_again(forward_->output());
  Problem back = in_direction(context.problem, Direction::backward);
  back.grid = forward_->facts().grid;
  backward_ = variant.make_plan({back, context.comm, context.exchange, context.local_fft, &memory_});
  const int me = mpi::rank_in(context.comm);
  if (backward_->input() != forward_->output() ||
      backward_->input_layout().boxes(me) != forward_->output_layout().boxes(me))
    throw std::logic_error("the backward plan of variant '" + variant.card().name +
                           "' does not begin where its forward plan ends");
  PlanFacts& facts = declared();
  facts = forward_->facts();
  const PlanFacts& of_backward = backward_->facts();
  facts.output_layout = of_backward.output_layout;
  facts.output = of_backward.output;
  facts.message_volume += of_backward.message_volume;
  facts.message_volume_is_exact = facts.message_volume_is_exact && of_backward.message_volume_is_exact;
  facts.device_work += of_backward.device_work;
  facts.buffer_bytes = std::max(facts.buffer_bytes, of_backward.buffer_bytes);
  facts.workspace_bytes += of_backward.workspace_bytes;
  for (const std::string& text : of_backward.local_ffts) facts.local_ffts.push_back("backward: " + text);
}

void RoundTrip::execute(PhaseClock& clock) {
  forward_->execute(clock);
  turn();
  backward_->execute(clock);
}

void RoundTrip::begin(PhaseClock& clock) {
  has_turned_ = false;
  forward_->begin(clock);
}

Advance RoundTrip::advance(PhaseClock& clock) {
  if (has_turned_) return backward_->advance(clock);
  const Advance result = forward_->advance(clock);
  if (result != Advance::complete) return result;
  turn();
  has_turned_ = true;
  backward_->begin(clock);
  return Advance::worked;
}

std::vector<Component> RoundTrip::components() {
  std::vector<Component> list = forward_->components();
  for (Component& component : backward_->components()) {
    component.name = "backward " + component.name;
    list.push_back(std::move(component));
  }
  return list;
}

std::unique_ptr<Plan> make_plan_of(const Variant& variant, const PlanContext& context) {
  if (context.problem.direction != Direction::roundtrip) return variant.make_plan(context);
  return std::make_unique<RoundTrip>(variant, context);
}

std::optional<std::string> supports_directions(const Variant& variant, const Problem& problem, int ranks) {
  if (problem.direction != Direction::roundtrip) return variant.supports(problem, ranks);
  for (const Direction direction : {Direction::forward, Direction::backward})
    if (auto reason = variant.supports(in_direction(problem, direction), ranks)) return reason;
  return std::nullopt;
}

Cost cost_of_directions(const Variant& variant, const Problem& problem, int ranks) {
  if (problem.direction != Direction::roundtrip) return variant.cost(problem, ranks);
  Cost cost = variant.cost(in_direction(problem, Direction::forward), ranks);
  const Cost back = variant.cost(in_direction(problem, Direction::backward), ranks);
  cost.flops += back.flops;
  cost.bytes_per_rank += back.bytes_per_rank;
  cost.messages_per_rank += back.messages_per_rank;
  return cost;
}

Problem first_direction(const Problem& problem) {
  return problem.direction == Direction::roundtrip ? in_direction(problem, Direction::forward) : problem;
}

}  // namespace fourscore
