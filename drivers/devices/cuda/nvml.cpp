#include "devices/cuda/nvml.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "hwcounters/nvml_library.hpp"

namespace fourscore::cuda {

namespace {

using Handle = NvmlLibrary::Device;
constexpr int success = NvmlLibrary::success;
constexpr unsigned clock_of_sms = 1;
constexpr unsigned clock_of_memory = 2;
constexpr unsigned sensor_of_gpu = 0;

/// Null where there is no NVML, or no such device.
Handle device_of(const std::string& bus_id) {
  const auto find = NvmlLibrary::instance().function<int (*)(const char*, Handle*)>("nvmlDeviceGetHandleByPciBusId_v2");
  Handle handle = nullptr;
  return find != nullptr && find(bus_id.c_str(), &handle) == success ? handle : nullptr;
}

void add_number(nlohmann::json& to, const char* key, Handle device, const char* name, double unit = 1) {
  const auto read = NvmlLibrary::instance().function<int (*)(Handle, unsigned*)>(name);
  unsigned value = 0;
  if (read != nullptr && read(device, &value) == success) to[key] = value * unit;
}

void add_number_of(nlohmann::json& to, const char* key, Handle device, const char* name, unsigned kind) {
  const auto read = NvmlLibrary::instance().function<int (*)(Handle, unsigned, unsigned*)>(name);
  unsigned value = 0;
  if (read != nullptr && read(device, kind, &value) == success) to[key] = value;
}

}  // namespace

nlohmann::json nvml_identity(const std::string& bus_id) {
  nlohmann::json known = nlohmann::json::object();
  const NvmlLibrary& nvml = NvmlLibrary::instance();
  std::array<char, 81> version{};
  const auto driver = nvml.function<int (*)(char*, unsigned)>("nvmlSystemGetDriverVersion");
  if (driver != nullptr && driver(version.data(), version.size() - 1) == success) known["driver"] = version.data();
  const Handle device = device_of(bus_id);
  if (device == nullptr) return known;
  const auto ecc = nvml.function<int (*)(Handle, unsigned*, unsigned*)>("nvmlDeviceGetEccMode");
  unsigned now = 0;
  unsigned pending = 0;
  if (ecc != nullptr && ecc(device, &now, &pending) == success) known["ecc"] = now != 0;
  // The widest and fastest link that device and slot can have: the current one falls while nothing is copied.
  add_number(known, "pcie_generation", device, "nvmlDeviceGetMaxPcieLinkGeneration");
  add_number(known, "pcie_width", device, "nvmlDeviceGetMaxPcieLinkWidth");
  return known;
}

nlohmann::json nvml_state(const std::string& bus_id) {
  nlohmann::json known = nlohmann::json::object();
  const Handle device = device_of(bus_id);
  if (device == nullptr) return known;
  add_number_of(known, "sm_clock_mhz", device, "nvmlDeviceGetClockInfo", clock_of_sms);
  add_number_of(known, "memory_clock_mhz", device, "nvmlDeviceGetClockInfo", clock_of_memory);
  add_number_of(known, "temperature_c", device, "nvmlDeviceGetTemperature", sensor_of_gpu);
  add_number(known, "power_w", device, "nvmlDeviceGetPowerUsage", 1e-3);
  add_number(known, "pcie_generation", device, "nvmlDeviceGetCurrPcieLinkGeneration");
  add_number(known, "pcie_width", device, "nvmlDeviceGetCurrPcieLinkWidth");
  return known;
}

}  // namespace fourscore::cuda
