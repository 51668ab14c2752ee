#include "harness/fields.hpp"

#include <fmt/format.h>

#include <utility>

namespace fourscore {

namespace {

bool together(const Problem& problem) { return problem.fields == 1 || problem.field_order == FieldOrder::together; }

void require_fields(const Problem& problem) {
  if (problem.fields < 1 || problem.fields > max_fields)
    throw InputError(fmt::format("fields is {}; allowed: 1 to {}", problem.fields, max_fields));
}

}  // namespace

FieldPlans::FieldPlans(const Variant& variant, const PlanContext& context) {
  const Problem one = one_field(context.problem);
  std::vector<TurnByTurn::Entry> entries;
  for (int field = 0; field < context.problem.fields; ++field) {
    SharedMemory* const shared =
        context.shared == nullptr ? nullptr : &context.shared->of_field(static_cast<std::size_t>(field));
    plans_.push_back(
        variant.make_plan({one, context.comm, context.exchange, context.local_fft, shared, context.memory}));
    entries.push_back({plans_.back().get(), field});
  }
  if (context.problem.field_order == FieldOrder::pipelined)
    groups_.emplace_back(std::move(entries));
  else
    for (const auto& entry : entries) groups_.emplace_back(std::vector{entry});
  declare_sums();
}

void FieldPlans::declare_sums() {
  PlanFacts& facts = declared();
  facts = plans_.front()->facts();
  for (const auto& plan : plans_) {
    facts.arrays.push_back({plan->input(), plan->output()});
    if (plan == plans_.front()) continue;
    const PlanFacts& more = plan->facts();
    facts.message_volume += more.message_volume;
    facts.message_volume_is_exact = facts.message_volume_is_exact && more.message_volume_is_exact;
    facts.device_work += more.device_work;
    facts.buffer_bytes += more.buffer_bytes;
    facts.workspace_bytes += more.workspace_bytes;
  }
}

void FieldPlans::execute(PhaseClock& clock) {
  for (TurnByTurn& group : groups_) group.execute(clock, [](std::size_t) {});
}

void FieldPlans::begin(PhaseClock& clock) {
  group_ = 0;
  groups_.front().begin(clock);
}

Advance FieldPlans::advance(PhaseClock& clock) {
  const Advance result = groups_[group_].advance(clock, [](std::size_t) {});
  if (result != Advance::complete || ++group_ == groups_.size()) return result;
  groups_[group_].begin(clock);
  return Advance::worked;
}

std::vector<Component> FieldPlans::components() {
  std::vector<Component> list = plans_.front()->components();
  for (std::size_t field = 1; field < plans_.size(); ++field) {
    const std::vector<Component> more = plans_[field]->components();
    for (std::size_t i = 0; i < list.size(); ++i) {
      list[i].run = [before = list[i].run, run = more.at(i).run] {
        before();
        run();
      };
      if (list[i].min_bytes && more[i].min_bytes)
        *list[i].min_bytes += *more[i].min_bytes;
      else
        list[i].min_bytes.reset();
    }
  }
  return list;
}

void FieldPlans::check_memory() const {
  for (const auto& plan : plans_) plan->check_memory();
}

DeviceData* FieldPlans::device_data() { return plans_.front()->device_data() == nullptr ? nullptr : this; }

void FieldPlans::keep_in_place(bool stays) {
  for (const auto& plan : plans_) plan->device_data()->keep_in_place(stays);
}

void FieldPlans::place_input() {
  for (const auto& plan : plans_) plan->device_data()->place_input();
}

void FieldPlans::fetch_output() {
  for (const auto& plan : plans_) plan->device_data()->fetch_output();
}

std::unique_ptr<Plan> make_plan_one_way(const Variant& variant, const PlanContext& context) {
  if (together(context.problem)) return variant.make_plan(context);
  return std::make_unique<FieldPlans>(variant, context);
}

Reason supports_one_way(const Variant& variant, const Problem& problem, int ranks) {
  require_fields(problem);
  if (problem.fields > 1)
    if (auto reason = variant.refuses_fields(problem)) return reason;
  return variant.supports(one_field(problem), ranks);
}

Cost cost_one_way(const Variant& variant, const Problem& problem, int ranks) {
  Cost cost = variant.cost(one_field(problem), ranks);
  cost.flops *= problem.fields;
  cost.bytes_per_rank *= problem.fields;
  if (!together(problem)) cost.messages_per_rank *= problem.fields;
  return cost;
}

}  // namespace fourscore
