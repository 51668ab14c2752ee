#include "harness/round_trip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {
namespace {

/// The input there and the output back, where a plan's data does not stay on the device.
DeviceWork moves_of(const Plan& plan, const Problem& problem, int rank) {
  DeviceWork work;
  work.bytes_in = plan.input_layout().memory_volume(rank) * static_cast<Index>(problem.input_element_bytes());
  work.bytes_out = plan.output_layout().memory_volume(rank) * static_cast<Index>(problem.output_element_bytes());
  work.copies_in = work.bytes_in > 0 ? 1 : 0;
  work.copies_out = work.bytes_out > 0 ? 1 : 0;
  return work;
}

}  // namespace

RoundTrip::RoundTrip(const Variant& variant, const PlanContext& context) {
  const Problem there = in_direction(context.problem, Direction::forward);
  forward_ = make_plan_one_way(variant, {there, context.comm, context.exchange, context.local_fft, &memory_});
  begin_again();
  Problem back = in_direction(context.problem, Direction::backward);
  back.grid = forward_->facts().grid;
  backward_ = make_plan_one_way(variant, {back, context.comm, context.exchange, context.local_fft, &memory_});
  const int me = mpi::rank_in(context.comm);
  if (!backward_begins_where_forward_ends() ||
      backward_->input_layout().boxes(me) != forward_->output_layout().boxes(me))
    throw std::logic_error("the backward plan of variant '" + variant.card().name +
                           "' does not begin where its forward plan ends");
  if (context.problem.direction == Direction::convolution) add_product(variant, context, back);
  in_turn_ = {forward_.get()};
  for (const auto& plan : further_) in_turn_.push_back(plan.get());
  in_turn_.push_back(backward_.get());
  declare(context.problem, me);
}

void RoundTrip::add_product(const Variant& variant, const PlanContext& context, const Problem& back) {
  product_.emplace(operator_of(context.problem), context.problem, forward_->output_layout(),
                   mpi::rank_in(context.comm));
  for (int field = 1; field < product_->fields(); ++field)
    further_.push_back(variant.make_plan({back, context.comm, context.exchange, context.local_fft}));
}

void RoundTrip::declare(const Problem& problem, int rank) {
  PlanFacts& facts = declared();
  facts = forward_->facts();
  facts.output_layout = backward_->facts().output_layout;
  facts.output = backward_->facts().output;
  facts.output_fields = backward_->facts().output_fields;
  for (std::size_t field = 0; field < facts.arrays.size(); ++field)
    facts.arrays[field].output = backward_->facts().arrays[field].output;
  for (std::size_t i = 1; i < in_turn_.size(); ++i) {
    const PlanFacts& more = in_turn_[i]->facts();
    facts.message_volume += more.message_volume;
    facts.message_volume_is_exact = facts.message_volume_is_exact && more.message_volume_is_exact;
    facts.device_work += more.device_work;
    facts.workspace_bytes += more.workspace_bytes;
  }
  facts.buffer_bytes = std::max(facts.buffer_bytes, backward_->facts().buffer_bytes);
  for (const auto& plan : further_) {
    facts.buffer_bytes += plan->facts().buffer_bytes;
    facts.further_outputs.push_back(plan->output());
  }
  for (const std::string& text : backward_->facts().local_ffts) facts.local_ffts.push_back("backward: " + text);
  if (!product_) return;
  facts.workspace_bytes += product_->table_bytes();
  if (forward_->device_data() == nullptr) return;
  // Nothing stays on the device: see device_data().
  facts.device_work += moves_of(*forward_, in_direction(problem, Direction::forward), rank);
  for (std::size_t i = 1; i < in_turn_.size(); ++i)
    facts.device_work += moves_of(*in_turn_[i], in_direction(problem, Direction::backward), rank);
}

/// The product of the field that goes back by the plan of this number, where that begins.
void RoundTrip::multiply(std::size_t number) {
  const std::size_t field = number + 1 == in_turn_.size() ? 0 : number;
  product_->multiply(static_cast<int>(field), forward_->output(), in_turn_[number]->input());
}

void RoundTrip::turn_to(std::size_t number, PhaseClock& clock) {
  if (number == 1 && turned_ != nullptr) (*turned_)();
  if (number == 0 || !product_) return;
  const Region region(clock, Phase::product);
  multiply(number);
}

void RoundTrip::begin_again() {
  if (forward_->facts().arrays.empty()) return memory_.begin_again(forward_->output());
  for (Index field = 0; field < forward_->fields(); ++field)
    memory_.of_field(static_cast<std::size_t>(field)).begin_again(forward_->arrays_of(field).output);
}

bool RoundTrip::backward_begins_where_forward_ends() const {
  for (Index field = 0; field < forward_->fields(); ++field)
    if (backward_->arrays_of(field).input != forward_->arrays_of(field).output) return false;
  return backward_->facts().input_fields == forward_->facts().output_fields;
}

void RoundTrip::execute(PhaseClock& clock) {
  for (std::size_t i = 0; i < in_turn_.size(); ++i) {
    turn_to(i, clock);
    in_turn_[i]->execute(clock);
  }
}

void RoundTrip::begin(PhaseClock& clock) {
  next_ = 0;
  forward_->begin(clock);
}

Advance RoundTrip::advance(PhaseClock& clock) {
  const Advance result = in_turn_[next_]->advance(clock);
  if (result != Advance::complete || next_ + 1 == in_turn_.size()) return result;
  turn_to(++next_, clock);
  in_turn_[next_]->begin(clock);
  return Advance::worked;
}

std::vector<Component> RoundTrip::components() {
  std::vector<Component> list = forward_->components();
  if (list.empty()) return list;
  if (product_)
    list.push_back({"product", Phase::product,
                    [this] {
                      for (std::size_t i = 1; i < in_turn_.size(); ++i) multiply(i);
                    },
                    product_->min_bytes()});
  for (std::size_t i = in_turn_.size(); --i > 0;) {
    const bool is_first = in_turn_[i] == backward_.get();
    for (Component& component : in_turn_[i]->components()) {
      component.name = (is_first ? "backward " : "field " + std::to_string(i + 1) + " backward ") + component.name;
      list.push_back(std::move(component));
    }
  }
  return list;
}

std::unique_ptr<Plan> make_plan_of(const Variant& variant, const PlanContext& context) {
  if (!goes_back(context.problem.direction)) return make_plan_one_way(variant, context);
  return std::make_unique<RoundTrip>(variant, context);
}

Reason supports_directions(const Variant& variant, const Problem& problem, int ranks) {
  if (!goes_back(problem.direction)) return supports_one_way(variant, problem, ranks);
  for (const Direction direction : {Direction::forward, Direction::backward})
    if (auto reason = supports_one_way(variant, in_direction(problem, direction), ranks)) return reason;
  if (problem.direction != Direction::convolution) return std::nullopt;
  if (problem.fields > 1)
    return fmt::format("a convolution of {} fields; expected one, or direction roundtrip", problem.fields);
  return supports_product(problem);
}

int fields_back(const Problem& problem) {
  return problem.direction == Direction::convolution ? operator_of(problem).fields(problem) : 1;
}

Cost cost_of_directions(const Variant& variant, const Problem& problem, int ranks) {
  if (!goes_back(problem.direction)) return cost_one_way(variant, problem, ranks);
  Cost cost = cost_one_way(variant, in_direction(problem, Direction::forward), ranks);
  const Cost back = cost_one_way(variant, in_direction(problem, Direction::backward), ranks);
  const int backward = fields_back(problem);
  cost.flops += backward * back.flops;
  cost.bytes_per_rank += backward * back.bytes_per_rank;
  cost.messages_per_rank += backward * back.messages_per_rank;
  return cost;
}

Problem first_direction(const Problem& problem) {
  return goes_back(problem.direction) ? in_direction(problem, Direction::forward) : problem;
}

}  // namespace fourscore
