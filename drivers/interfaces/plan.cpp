#include "interfaces/plan.hpp"

#include <algorithm>
#include <stdexcept>

namespace fourscore {

std::shared_ptr<Buffer> SharedMemory::take(std::size_t bytes, const Allocate& allocate) {
  if (taken_ == buffers_.size()) buffers_.emplace_back(allocate());
  if (buffers_[taken_]->bytes() < bytes)
    throw std::logic_error("of two plans of opposite directions the second needs more memory than the first");
  return buffers_[taken_++];
}

void SharedMemory::begin_again(const void* input) {
  const auto first = std::ranges::find(buffers_, input, [](const auto& buffer) { return buffer->data(); });
  if (first == buffers_.end())
    throw InputError("a variant whose plans take no PlanContext::buffer() makes no round trips");
  std::rotate(buffers_.begin(), first, buffers_.end());
  taken_ = 0;
}

SharedMemory& SharedMemory::of_field(std::size_t field) {
  while (fields_.size() <= field) fields_.push_back(std::make_unique<SharedMemory>());
  return *fields_[field];
}

std::shared_ptr<Buffer> PlanContext::buffer(std::size_t bytes, const SharedMemory::Allocate& allocate) const {
  const auto make = [&] {
    if (allocate != nullptr) return allocate();
    return memory == nullptr ? ordinary_buffer(bytes) : (*memory)(bytes);
  };
  return shared == nullptr ? std::shared_ptr<Buffer>(make()) : shared->take(bytes, make);
}

void Plan::declare_layouts(const Problem& problem, Decomposition input, Decomposition output) {
  const auto declare = [&](Decomposition& layout, Decomposition& complex, bool is_real) {
    layout = is_real ? real_in_place_of(complex, problem.last_axis(), problem.shape.back()) : std::move(complex);
  };
  declare(facts_.input_layout, input, problem.real_input());
  declare(facts_.output_layout, output, problem.real_output());
}

void Plan::allocate(const PlanContext& context, std::size_t bytes, bool needs_spare,
                    const SharedMemory::Allocate& make) {
  const std::size_t output = output_buffer(context.problem);
  for (std::size_t i = 0; i < (needs_spare || output == 1 ? 2 : 1); ++i) {
    buffers_.push_back(context.buffer(bytes, make));
    facts_.buffer_bytes += buffer(i).bytes();
  }
  facts_.input = buffer(0).data();
  facts_.output = buffer(output).data();
}

}  // namespace fourscore
