#include "interfaces/device.hpp"

namespace fourscore {

HostMemory parse_host_memory(const std::string& text, const std::string& what) {
  if (text == "pageable") return HostMemory::pageable;
  if (text == "pinned") return HostMemory::pinned;
  if (text == "managed") return HostMemory::managed;
  throw InputError(what + " is '" + text + "'; expected pageable, pinned or managed");
}

}  // namespace fourscore
