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
  back.grid = forward_->grid();
  backward_ = variant.make_plan({back, context.comm, context.exchange, context.local_fft, &memory_});
  const int me = mpi::rank_in(context.comm);
  if (backward_->input() != forward_->output() ||
      backward_->input_layout().boxes(me) != forward_->output_layout().boxes(me))
    throw std::logic_error("the backward plan of variant '" + variant.card().name +
                           "' does not begin where its forward plan ends");
}

void RoundTrip::execute(PhaseClock& clock) {
  forward_->execute(clock);
  turn();
  backward_->execute(clock);
}

void RoundTrip::step(std::size_t number, PhaseClock& clock) {
  const std::size_t there = forward_->steps();
  if (number >= there) return backward_->step(number - there, clock);
  forward_->step(number, clock);
  if (number + 1 == there) turn();
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

MessageVolume RoundTrip::message_volume() const {
  MessageVolume total = forward_->message_volume();
  return total += backward_->message_volume();
}

DeviceWork RoundTrip::device_work() const {
  DeviceWork total = forward_->device_work();
  return total += backward_->device_work();
}

std::size_t RoundTrip::buffer_bytes() const { return std::max(forward_->buffer_bytes(), backward_->buffer_bytes()); }

std::size_t RoundTrip::workspace_bytes() const { return forward_->workspace_bytes() + backward_->workspace_bytes(); }

std::vector<std::string> RoundTrip::describe_local_ffts() const {
  std::vector<std::string> texts = forward_->describe_local_ffts();
  for (std::string& text : backward_->describe_local_ffts()) texts.push_back("backward: " + text);
  return texts;
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
