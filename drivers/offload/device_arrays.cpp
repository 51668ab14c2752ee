#include "offload/device_arrays.hpp"

#include <algorithm>
#include <stdexcept>

namespace fourscore {

std::byte* Mirrors::on_device(const void* host) const {
  const auto address = reinterpret_cast<std::uintptr_t>(host);
  std::byte* end = nullptr;  // that of an empty part, unless another array begins there
  for (const DeviceArray* array : arrays_) {
    const auto first = reinterpret_cast<std::uintptr_t>(array->data());
    if (address < first || address > first + array->bytes()) continue;
    auto* const found = static_cast<std::byte*>(array->mirror()->data()) + (address - first);
    if (address < first + array->bytes()) return found;
    end = found;
  }
  if (end != nullptr) return end;
  throw std::logic_error("an address that no array of the plan has");
}

Buffer& Mirrors::mirror_of(const Buffer& host) const {
  const auto found = std::ranges::find(arrays_, host.data(), [](const DeviceArray* array) { return array->data(); });
  if (found == arrays_.end()) throw std::logic_error("an array that the plan has not");
  return *(*found)->mirror();
}

std::size_t Mirrors::bytes() const {
  std::size_t all = 0;
  for (const DeviceArray* array : arrays_) all += array->mirror()->bytes();
  return all;
}

}  // namespace fourscore
