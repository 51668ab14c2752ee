#include "interfaces/device.hpp"

#include <cstdlib>

namespace fourscore {

HostMemory parse_host_memory(const std::string& text, const std::string& what) {
  if (text == "pageable") return HostMemory::pageable;
  if (text == "pinned") return HostMemory::pinned;
  if (text == "managed") return HostMemory::managed;
  throw InputError(what + " is '" + text + "'; expected pageable, pinned or managed");
}

std::vector<std::string> device_choices() {
  std::vector<std::string> names{"auto"};
  for (const auto& name : DeviceRegistry::instance().names()) names.push_back(name);
  return names;
}

const DeviceBackend& chosen_device(const std::string& choice) {
  if (choice != "auto") {
    if (const DeviceBackend* const found = DeviceRegistry::instance().find(choice)) return *found;
    throw InputError("no device '" + choice + "' is in this program");
  }
  if (const char* const named = std::getenv(device_variable); named != nullptr && *named != '\0')
    return DeviceRegistry::instance().get(named, std::string("device in ") + device_variable);
  const DeviceBackend* stand_in = nullptr;
  for (const auto& name : DeviceRegistry::instance().names()) {
    const DeviceBackend& backend = *DeviceRegistry::instance().find(name);
    if (!backend.unavailable().empty()) continue;
    if (!backend.emulated()) return backend;
    if (stand_in == nullptr) stand_in = &backend;
  }
  if (stand_in == nullptr) throw InputError("no device, and none that stands in for one, is in this program");
  return *stand_in;
}

}  // namespace fourscore
