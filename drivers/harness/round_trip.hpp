#pragma once
// A transform forward and then backward, as one plan: what most programs do, and what Tables 5.1 to 5.3 of lee2018
// time.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interfaces/variant.hpp"

namespace fourscore {

/// The variant's plan forward, and that of the same grid backward, which goes on in the same memory from where forward
/// left its output; nothing is moved between them. Out of place, the spectrum lies in the other buffer, and the result
/// in that of the input.
class RoundTrip : public Plan, private DeviceData {
 public:
  /// Collective. context.problem.direction is roundtrip. Throws std::logic_error where the backward plan of the variant
  /// does not begin in the layout and memory in which the forward one ends.
  RoundTrip(const Variant& variant, const PlanContext& context);

  void execute(PhaseClock& clock) override;
  void begin(PhaseClock& clock) override;
  /// The parts of the forward plan, then those of the backward one.
  Advance advance(PhaseClock& clock) override;
  /// The components of the backward plan are named "backward fft-1" and so on.
  [[nodiscard]] std::vector<Component> components() override;
  void check_memory() const override {
    forward_->check_memory();
    backward_->check_memory();
  }
  [[nodiscard]] DeviceData* device_data() override { return forward_->device_data() == nullptr ? nullptr : this; }
  void keep_in_place(bool stays) override {
    for (Plan* half : {forward_.get(), backward_.get()}) half->device_data()->keep_in_place(stays);
  }
  void place_input() override { forward_->device_data()->place_input(); }
  void fetch_output() override { backward_->device_data()->fetch_output(); }

  [[nodiscard]] Plan& forward() { return *forward_; }  ///< alone, for checks
  /// Called whenever this rank is through with the forward half. Null: nothing is called.
  void when_turned(const std::function<void()>* notice) { turned_ = notice; }

 private:
  void turn() const {
    if (turned_ != nullptr) (*turned_)();
  }

  SharedMemory memory_;
  std::unique_ptr<Plan> forward_;
  std::unique_ptr<Plan> backward_;
  const std::function<void()>* turned_ = nullptr;
  bool has_turned_ = false;  ///< while it advances
};

/// The plan of any direction.
[[nodiscard]] std::unique_ptr<Plan> make_plan_of(const Variant& variant, const PlanContext& context);
/// Variant::supports() of any direction: of a round trip, both ways.
[[nodiscard]] std::optional<std::string> supports_directions(const Variant& variant, const Problem& problem, int ranks);
/// Variant::cost() of any direction.
[[nodiscard]] Cost cost_of_directions(const Variant& variant, const Problem& problem, int ranks);
/// The problem as Variant::redistributions() and grid_entries() take it: of a round trip, forward.
[[nodiscard]] Problem first_direction(const Problem& problem);

}  // namespace fourscore
