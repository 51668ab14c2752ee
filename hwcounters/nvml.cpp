// The backend nvml: joules of the node's GPUs since their driver was loaded, as NVIDIA's management library tells them
// (from Volta on).

#include <fmt/format.h>

#include <utility>

#include "hwcounters/event_session.hpp"
#include "hwcounters/nvml_library.hpp"

namespace fourscore {
namespace {

constexpr const char* total_energy = "total_energy";
constexpr const char* energy_function = "nvmlDeviceGetTotalEnergyConsumption";
using ReadEnergy = int (*)(NvmlLibrary::Device, unsigned long long* millijoules);

std::string failed_call(const char* function, int result) {
  return fmt::format("{}: {}", function, NvmlLibrary::instance().error_text(result));
}

/// Every GPU that the library shows, or why there is none.
std::pair<std::vector<NvmlLibrary::Device>, std::string> all_devices() {
  const NvmlLibrary& nvml = NvmlLibrary::instance();
  if (!nvml.unavailable().empty()) return {{}, nvml.unavailable()};
  const auto count_of = nvml.function<int (*)(unsigned*)>("nvmlDeviceGetCount_v2");
  const auto device_at = nvml.function<int (*)(unsigned, NvmlLibrary::Device*)>("nvmlDeviceGetHandleByIndex_v2");
  unsigned count = 0;
  if (count_of == nullptr || device_at == nullptr) return {{}, "NVML has no devices: its version is not known here"};
  if (const int result = count_of(&count); result != NvmlLibrary::success)
    return {{}, failed_call("nvmlDeviceGetCount_v2", result)};
  std::vector<NvmlLibrary::Device> devices(count);
  for (unsigned i = 0; i < count; ++i)
    if (const int result = device_at(i, &devices[i]); result != NvmlLibrary::success)
      return {{}, failed_call("nvmlDeviceGetHandleByIndex_v2", result)};
  return {devices, devices.empty() ? "NVML shows no GPU" : ""};
}

class NvmlReader : public CounterReader {
 public:
  NvmlReader(std::vector<NvmlLibrary::Device> devices, ReadEnergy read_energy)
      : devices_(std::move(devices)), read_energy_(read_energy) {}

  bool read(std::span<Reading> readings) noexcept override {
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      unsigned long long millijoules = 0;
      failure_ = read_energy_(devices_[i], &millijoules);
      if (failure_ != NvmlLibrary::success) return false;
      readings[i] = Reading{};
      readings[i].value = millijoules;
    }
    return true;
  }
  [[nodiscard]] std::string error() const override {
    return fmt::format("the energy of a GPU cannot be read: {}", failed_call(energy_function, failure_));
  }

 private:
  std::vector<NvmlLibrary::Device> devices_;
  ReadEnergy read_energy_;
  int failure_ = 0;
};

class NvmlEnergy : public CounterBackend {
 public:
  [[nodiscard]] std::string name() const override { return "nvml"; }
  [[nodiscard]] std::string summary() const override { return "NVML: joules of the node's NVIDIA GPUs"; }
  [[nodiscard]] std::string default_group() const override { return "ENERGY"; }

  [[nodiscard]] std::string unavailable() const override {
    const auto [devices, reason] = all_devices();
    if (!reason.empty()) return reason;
    const auto read = NvmlLibrary::instance().function<ReadEnergy>(energy_function);
    if (read == nullptr) return fmt::format("this NVML has no {}: a newer driver has it", energy_function);
    for (const NvmlLibrary::Device device : devices) {
      unsigned long long millijoules = 0;
      if (const int result = read(device, &millijoules); result != NvmlLibrary::success)
        return fmt::format("{}; GPUs count their energy from Volta on", failed_call(energy_function, result));
    }
    return {};
  }

  [[nodiscard]] std::unique_ptr<CounterSession> open(const std::vector<EventSpec>& events,
                                                     const CounterRequest& request) override {
    (void)request;
    for (const EventSpec& event : events)
      if (event.code != total_energy)
        throw CounterRequestError(fmt::format("nvml event '{}' is unknown; there is: {}", event.code, total_energy));
    if (const std::string reason = unavailable(); !reason.empty()) throw CounterError(reason);
    std::vector<NvmlLibrary::Device> devices;
    std::vector<CounterSource> sources;
    for (std::size_t i = 0; i < events.size(); ++i)
      for (const NvmlLibrary::Device device : all_devices().first) {
        devices.push_back(device);
        sources.push_back({.event = i, .timed = false});
      }
    const auto read = NvmlLibrary::instance().function<ReadEnergy>(energy_function);
    return std::make_unique<EventSession>(CounterScope::node, events.size(), std::move(sources),
                                          std::make_unique<NvmlReader>(std::move(devices), read));
  }
};

FOURSCORE_REGISTER_COUNTER(NvmlEnergy);

}  // namespace
}  // namespace fourscore
