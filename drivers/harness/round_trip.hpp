#pragma once
// A transform forward and then backward, as one plan: what most programs do, and what Tables 5.1 to 5.3 of lee2018
// time. With a product between the two it is a convolution (docs/applications.md).

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/fields.hpp"
#include "harness/product.hpp"
#include "interfaces/variant.hpp"

namespace fourscore {

/// The variant's plan forward, and that of the same grid backward, which goes on in the same memory from where forward
/// left its output; nothing is moved between them. Several fields all go forward, then all backward. Out of place, the
/// spectrum lies in the other buffer, and the result in that of the input.
///
/// A convolution multiplies the spectrum where forward left it, in whatever order that is. An operator that gives
/// several fields back has a backward plan for each: the first in the memory of the forward plan, as above, and each of
/// the others in memory of its own (PlanFacts::further_outputs). They run in turn, the first last, because its product
/// overwrites the spectrum.
class RoundTrip : public Plan, private DeviceData {
 public:
  /// Collective. context.problem.direction goes_back(). Throws std::logic_error where the backward plan of the variant
  /// does not begin in the layout and memory in which the forward one ends.
  RoundTrip(const Variant& variant, const PlanContext& context);

  void execute(PhaseClock& clock) override;
  void begin(PhaseClock& clock) override;
  /// The parts of the forward plan, then those of the backward ones.
  Advance advance(PhaseClock& clock) override;
  /// The components of the backward plan are named "backward fft-1" and so on, those of further ones "field 2 backward
  /// fft-1". The product is one for all fields. Where the variant's plans are not told apart neither is this one.
  [[nodiscard]] std::vector<Component> components() override;
  void check_memory() const override {
    for (const Plan* plan : in_turn_) plan->check_memory();
  }
  /// Null for a convolution: its spectrum comes to the host, where the product is, and goes back in every run.
  [[nodiscard]] DeviceData* device_data() override {
    return forward_->device_data() == nullptr || product_ ? nullptr : this;
  }
  void keep_in_place(bool stays) override {
    for (Plan* half : {forward_.get(), backward_.get()}) half->device_data()->keep_in_place(stays);
  }
  void place_input() override { forward_->device_data()->place_input(); }
  void fetch_output() override { backward_->device_data()->fetch_output(); }

  [[nodiscard]] Plan& forward() { return *forward_; }  ///< alone, for checks
  /// What Component::min_bytes of the product is; 0 without one.
  [[nodiscard]] Index min_bytes_of_product() const { return product_ ? product_->min_bytes() : 0; }
  /// Called whenever this rank is through with the forward half. Null: nothing is called.
  void when_turned(const std::function<void()>* notice) { turned_ = notice; }

 private:
  void begin_again();
  [[nodiscard]] bool backward_begins_where_forward_ends() const;
  void declare(const Problem& problem, int rank);
  void add_product(const Variant& variant, const PlanContext& context, const Problem& back);
  /// What lies before plan number `number` of in_turn_.
  void turn_to(std::size_t number, PhaseClock& clock);
  void multiply(std::size_t number);

  SharedMemory memory_;
  std::unique_ptr<Plan> forward_;
  std::unique_ptr<Plan> backward_;
  std::vector<std::unique_ptr<Plan>> further_;  ///< for fields 1, 2 ... that go back
  std::vector<Plan*> in_turn_;                  ///< forward, further, backward
  std::optional<Product> product_;              ///< nothing: a round trip
  const std::function<void()>* turned_ = nullptr;
  std::size_t next_ = 0;  ///< the one of in_turn_ that advances
};

/// The plan of any direction and of all fields.
[[nodiscard]] std::unique_ptr<Plan> make_plan_of(const Variant& variant, const PlanContext& context);
/// Variant::supports() of any direction and of all fields: of one that goes_back(), both ways, and the product, which
/// takes one field.
[[nodiscard]] Reason supports_directions(const Variant& variant, const Problem& problem, int ranks);
/// How many fields a transform of any direction leaves of one: of a convolution, as many as its operator gives.
[[nodiscard]] int fields_back(const Problem& problem);
/// Variant::cost() of any direction, of all fields: that of all transforms, each as often as there are. A product
/// counts nothing.
[[nodiscard]] Cost cost_of_directions(const Variant& variant, const Problem& problem, int ranks);
/// The problem as Variant::redistributions() and grid_entries() take it: of one that goes_back(), forward.
[[nodiscard]] Problem first_direction(const Problem& problem);

}  // namespace fourscore
