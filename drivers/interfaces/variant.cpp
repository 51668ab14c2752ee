#include "interfaces/variant.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
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

nlohmann::json Variant::describe_devices(const Problem& /*problem*/, MPI_Comm /*comm*/) const { return nullptr; }

}  // namespace fourscore
