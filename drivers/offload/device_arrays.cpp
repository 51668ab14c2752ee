#include "offload/device_arrays.hpp"

#include <stdexcept>

namespace fourscore {

std::byte* Mirrors::on_device(const void* host) const {
  const auto address = reinterpret_cast<std::uintptr_t>(host);
  for (const DeviceArray* array : arrays_) {
    const auto first = reinterpret_cast<std::uintptr_t>(array->data());
    // The end too: that of an empty part.
    if (address >= first && address <= first + array->bytes())
      return static_cast<std::byte*>(array->mirror()->data()) + (address - first);
  }
  throw std::logic_error("an address that no array of the plan has");
}

}  // namespace fourscore
