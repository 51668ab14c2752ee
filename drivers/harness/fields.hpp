#pragma once
// Several fields of one problem in one direction. Together they are one plan of the variant; in the other orders each
// has a plan of its own, as programs have them that call a library for one array after another.

#include <memory>
#include <string>
#include <vector>

#include "harness/turn_by_turn.hpp"
#include "interfaces/variant.hpp"

namespace fourscore {

/// A plan and memory for each field.
class FieldPlans : public Plan, private DeviceData {
 public:
  /// Collective. context.problem has several fields, in turn or pipelined.
  FieldPlans(const Variant& variant, const PlanContext& context);

  void execute(PhaseClock& clock) override;
  void begin(PhaseClock& clock) override;
  /// A part of one field, or pipelined of each.
  Advance advance(PhaseClock& clock) override;
  /// Each for all fields, one after another.
  [[nodiscard]] std::vector<Component> components() override;
  void check_memory() const override;
  [[nodiscard]] DeviceData* device_data() override;
  void keep_in_place(bool stays) override;
  void place_input() override;
  void fetch_output() override;

 private:
  void declare_sums();

  std::vector<std::unique_ptr<Plan>> plans_;
  std::vector<TurnByTurn> groups_;  ///< what advances at once: each field, or pipelined all
  std::size_t group_ = 0;           ///< in the run in hand
};

/// The plan of all fields.
[[nodiscard]] std::unique_ptr<Plan> make_plan_one_way(const Variant& variant, const PlanContext& context);
/// Variant::supports() of all fields. Throws InputError where their number cannot be used.
[[nodiscard]] Reason supports_one_way(const Variant& variant, const Problem& problem, int ranks);
/// Variant::cost() of all fields: together they have the messages of one.
[[nodiscard]] Cost cost_one_way(const Variant& variant, const Problem& problem, int ranks);

}  // namespace fourscore
