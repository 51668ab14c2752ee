#include "offload/device_arrays.hpp"

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

}  // namespace fourscore
