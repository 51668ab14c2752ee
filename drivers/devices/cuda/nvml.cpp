#include "devices/cuda/nvml.hpp"

#include <dlfcn.h>

#include <array>
#include <nlohmann/json.hpp>
#include <type_traits>

namespace fourscore::cuda {

namespace {

// The part of NVML's stable C interface that is called; its header is no part of the CUDA toolkit's runtime.
using Handle = void*;
constexpr int success = 0;
constexpr unsigned clock_of_sms = 1;
constexpr unsigned clock_of_memory = 2;
constexpr unsigned sensor_of_gpu = 0;

class Nvml {
 public:
  static const Nvml& instance() {
    static const Nvml nvml;
    return nvml;
  }
  ~Nvml() {
    if (shutdown_ != nullptr) shutdown_();
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Null where there is no NVML, or no such device.
  [[nodiscard]] Handle device(const std::string& bus_id) const {
    using Find = int (*)(const char*, Handle*);
    Handle handle = nullptr;
    const auto find = function<Find>("nvmlDeviceGetHandleByPciBusId_v2");
    return find != nullptr && find(bus_id.c_str(), &handle) == success ? handle : nullptr;
  }
  template <class Function>
  [[nodiscard]] Function function(const char* name) const {
    return shutdown_ == nullptr ? nullptr : reinterpret_cast<Function>(::dlsym(library_, name));
  }

 private:
  Nvml() : library_(::dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL)) {
    if (library_ == nullptr) return;
    const auto begin = reinterpret_cast<int (*)()>(::dlsym(library_, "nvmlInit_v2"));
    if (begin != nullptr && begin() == success)
      shutdown_ = reinterpret_cast<int (*)()>(::dlsym(library_, "nvmlShutdown"));
  }
  void* library_;
  int (*shutdown_)() = nullptr;
};

void add_number(nlohmann::json& to, const char* key, Handle device, const char* name, double unit = 1) {
  const auto read = Nvml::instance().function<int (*)(Handle, unsigned*)>(name);
  unsigned value = 0;
  if (read != nullptr && read(device, &value) == success) to[key] = value * unit;
}

void add_number_of(nlohmann::json& to, const char* key, Handle device, const char* name, unsigned kind) {
  const auto read = Nvml::instance().function<int (*)(Handle, unsigned, unsigned*)>(name);
  unsigned value = 0;
  if (read != nullptr && read(device, kind, &value) == success) to[key] = value;
}

}  // namespace

nlohmann::json nvml_identity(const std::string& bus_id) {
  nlohmann::json known = nlohmann::json::object();
  const Nvml& nvml = Nvml::instance();
  std::array<char, 81> version{};
  const auto driver = nvml.function<int (*)(char*, unsigned)>("nvmlSystemGetDriverVersion");
  if (driver != nullptr && driver(version.data(), version.size() - 1) == success) known["driver"] = version.data();
  const Handle device = nvml.device(bus_id);
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
  const Handle device = Nvml::instance().device(bus_id);
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
